//! [`Overlay`]: a source with other labels, or with more columns than it knows of.

use super::{Block, BlockSpan, Shape, Source};
use crate::error::Result;
use std::collections::BTreeMap;

/// The rows of another source.
pub(super) struct Overlay<S> {
    source: S,
    labels: Option<Vec<f64>>,
    shape: Shape,
}

impl<S: Source> Overlay<S> {
    /// `source` with `labels` in place of its own, if given, and at least `columns` columns.
    pub(super) fn new(source: S, labels: Option<Vec<f64>>, columns: usize) -> Self {
        let mut shape = source.shape();
        shape.columns = shape.columns.max(columns);
        Overlay { source, labels, shape }
    }
}

impl<S: Source> Source for Overlay<S> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn spans(&self) -> &[BlockSpan] {
        self.source.spans()
    }

    fn take(&self, index: usize) -> Result<Block> {
        self.source.take(index)
    }

    fn labels(&self) -> Result<Vec<f64>> {
        self.labels.clone().map_or_else(|| self.source.labels(), Ok)
    }

    fn held_bytes(&self) -> BTreeMap<u32, u64> {
        self.source.held_bytes()
    }
}
