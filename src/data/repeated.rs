//! A data set that several runs go through, one after the other.

use super::{Block, BlockSpan, Data, Shape, Source};
use crate::{error::Result, os::memory::Pages};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// All of a data set in memory, to be handed out as often as is asked: each run copies its rows to where its plan wants them.
/// While one places its rows they are in memory twice.
#[derive(Clone)]
pub struct Repeated {
    path: PathBuf,
    weights: Option<Vec<f64>>,
    held: Arc<Held>,
}

struct Held {
    shape: Shape,
    spans: Vec<BlockSpan>,
    blocks: Vec<Block>,
    labels: Vec<f64>,
}

/// One of the times.
struct Again(Arc<Held>);

impl Repeated {
    /// Takes all of `data`.
    ///
    /// # Errors
    /// A block or labels that cannot be had.
    pub fn new(data: Data) -> Result<Self> {
        let source = &data.source;
        let blocks = (0..source.spans().len()).map(|index| source.take(index)).collect::<Result<_>>()?;
        let held = Held { shape: source.shape(), spans: source.spans().to_vec(), blocks, labels: source.labels()? };
        Ok(Repeated { path: data.path, weights: data.weights, held: Arc::new(held) })
    }

    /// The data set, once more.
    pub fn again(&self) -> Data {
        let source = Box::new(Again(self.held.clone()));
        Data { path: self.path.clone(), source, weights: self.weights.clone() }
    }
}

impl Source for Again {
    fn shape(&self) -> Shape {
        self.0.shape
    }

    fn spans(&self) -> &[BlockSpan] {
        &self.0.spans
    }

    fn take(&self, index: usize) -> Result<Block> {
        Ok(match &self.0.blocks[index] {
            Block::Sparse { starts, columns, values } => Block::Sparse {
                starts: starts.clone(),
                columns: Pages::copied(columns),
                values: Pages::copied(values),
            },
            Block::Dense { columns, values } => Block::Dense { columns: *columns, values: Pages::copied(values) },
        })
    }

    fn labels(&self) -> Result<Vec<f64>> {
        Ok(self.0.labels.clone())
    }

    /// Nothing of it is given back as it is taken.
    fn held_bytes(&self) -> BTreeMap<u32, u64> {
        BTreeMap::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::from_rows;

    #[test]
    fn every_time_is_the_same_data() {
        let rows = [vec![(0, 1.0), (2, 0.5)], vec![(1, -1.0)]];
        let repeated = Repeated::new(from_rows(&rows, &[1.0, -1.0], 3).expect("rows")).expect("taken");
        for _ in 0..3 {
            let data = repeated.again();
            let Block::Sparse { columns, values, .. } = data.source.take(0).expect("a block") else {
                panic!("sparse rows");
            };
            assert_eq!((&columns[..], &values[..]), (&[0, 2, 1][..], &[1.0, 0.5, -1.0][..]));
            assert_eq!(data.source.labels().expect("labels"), [1.0, -1.0]);
        }
    }
}
