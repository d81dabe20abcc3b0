//! Which kernels a question takes, one after the other, and what each is told.

use super::{block::Block, kernels::Forms, shaders::Kernel};
use crate::gpu::{
    Cut, Terms,
    cut::{GROUP, LANES},
    twin::{columns, slopes},
};
use crate::loss::Loss;

/// A kernel and what it works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// Partial gradients with their sums, from dense rows.
    Dense,
    /// Partial gradients with their sums, added up.
    ReduceDense,
    /// Margins.
    Margins,
    /// Slopes and partial sums, from margins.
    Slopes,
    /// Partial sums, added up.
    ReduceSums,
    /// Partial gradients, from slopes and dense rows.
    Columns,
    /// Partial gradients, added up.
    ReduceColumns,
    /// A gradient and partial sums, from sparse rows.
    Sparse,
    /// A gradient, from slopes and sparse columns.
    SparseColumns,
}

/// What is asked of a slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The gradient of a list of rows.
    Gradient,
    /// The gradient of all rows, each once.
    Whole,
    /// The sums of a list of rows.
    Objective,
    /// Their margins.
    Margins,
}

/// Steps that any question takes at most.
pub(super) const STEPS_MAX: usize = 5;

impl Step {
    /// Its kernel.
    pub(super) fn kernel(self) -> Kernel {
        match self {
            Step::Dense => Kernel::Dense,
            Step::ReduceDense | Step::ReduceSums | Step::ReduceColumns => Kernel::Reduce,
            Step::Margins => Kernel::Margins,
            Step::Slopes => Kernel::Slopes,
            Step::Columns => Kernel::Columns,
            Step::Sparse => Kernel::Sparse,
            Step::SparseColumns => Kernel::SparseColumns,
        }
    }
}

/// The steps of `question`.
pub(super) fn steps(question: Question, forms: &Forms) -> &'static [Step] {
    use Step::*;
    match question {
        Question::Margins => &[Margins],
        Question::Objective => &[Margins, Slopes, ReduceSums],
        Question::Whole => &[Margins, Slopes, ReduceSums, SparseColumns],
        Question::Gradient if forms.sparse() => &[Sparse, ReduceSums],
        Question::Gradient if forms.holding.is_some() => &[Dense, ReduceDense],
        Question::Gradient => &[Margins, Slopes, ReduceSums, Columns, ReduceColumns],
    }
}

/// What does not change from step to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) forms: Forms,
    /// Slots.
    pub(super) width: usize,
    /// Vectors of four that a row of slots takes.
    pub(super) stride: usize,
    loss: Loss,
}

/// A dispatch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispatch {
    pub(super) step: Step,
    pub(super) block: Block,
    pub(super) groups: [u32; 2],
}

impl Shape {
    pub(super) fn of(terms: &Terms, forms: Forms) -> Self {
        Shape { forms, width: terms.width(), stride: terms.width().div_ceil(4), loss: terms.loss() }
    }

    /// Vectors of the result: a gradient, and its sums.
    pub(super) fn result(&self) -> usize {
        self.stride + 1
    }

    /// Vectors of all partial sums that a batch of `rows` rows has at once.
    pub(super) fn partials(&self, rows: usize) -> usize {
        let sums = self.forms.walking.groups(rows).max(slopes::groups(rows));
        let gradients = match self.forms.holding {
            Some(cut) => cut.groups(rows) * (self.stride + 1),
            None if self.forms.sparse() => 0,
            None => columns::groups(rows, self.width) * self.stride,
        };
        sums.max(gradients)
    }

    /// What a block says of a batch whatever the step.
    pub(super) fn block(&self, count: usize, first: usize, constant: f32) -> Block {
        Block {
            count: count as u32,
            first: first as u32,
            stride: self.stride as u32,
            width: self.width as u32,
            constant,
            delta: if let Loss::Huber { delta } = self.loss { delta as f32 } else { 0.0 },
            ..Block::default()
        }
    }

    /// The dispatches of `question` over `count` rows, of which the first stands at `first` of all lists, in order.
    pub(super) fn dispatches(
        &self,
        question: Question,
        count: usize,
        first: usize,
        constant: f32,
    ) -> impl Iterator<Item = Dispatch> + use<> {
        let shape = *self;
        let mut partials = 0;
        steps(question, &shape.forms).iter().map(move |&step| {
            let mut block = shape.block(count, first, constant);
            let mut teams = |block: &mut Block, cut: Cut, count: usize| {
                (block.groups, block.turns) = (cut.groups(count) as u32, cut.turns(count) as u32);
                partials = block.groups;
                [block.groups, 1]
            };
            let groups = match step {
                Step::Dense => teams(&mut block, shape.forms.holding.expect("a team holds a row"), count),
                Step::Sparse | Step::Margins => teams(&mut block, shape.forms.walking, count),
                Step::SparseColumns => {
                    block.count = shape.width as u32;
                    teams(&mut block, shape.forms.columns, shape.width)
                }
                Step::Slopes => {
                    block.groups = slopes::groups(count) as u32;
                    block.turns = count.div_ceil(block.groups as usize * GROUP) as u32;
                    partials = block.groups;
                    [block.groups, 1]
                }
                Step::Columns => {
                    block.groups = columns::groups(count, shape.width) as u32;
                    partials = block.groups;
                    [shape.stride.div_ceil(GROUP) as u32, block.groups]
                }
                Step::ReduceDense | Step::ReduceColumns | Step::ReduceSums => {
                    let vectors = match step {
                        Step::ReduceDense => shape.stride + 1,
                        Step::ReduceColumns => shape.stride,
                        _ => 1,
                    };
                    block.stride = vectors as u32;
                    block.groups = partials;
                    block.target_first = if step == Step::ReduceSums { shape.stride as u32 } else { 0 };
                    [vectors.div_ceil(GROUP / LANES).min(65_535) as u32, 1]
                }
            };
            Dispatch { step, block, groups }
        })
    }
}
