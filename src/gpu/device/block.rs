//! What a dispatch is told.

use bytemuck::{Pod, Zeroable};

/// `Batch` of `gpu/batch.wgsl`: 48 bytes, in this order.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Block {
    /// Rows of the list, or columns.
    pub count: u32,
    /// Where the list starts among all lists.
    pub first: u32,
    /// Turns that each workgroup takes.
    pub turns: u32,
    /// Workgroups that share the rows, or partial sums.
    pub groups: u32,
    /// Vectors of four that a dense row, or a partial sum, has.
    pub stride: u32,
    /// Slots.
    pub width: u32,
    /// The first vector of the result that partial sums are added to.
    pub target_first: u32,
    /// 1 where the constant moves.
    pub free: u32,
    /// c.
    pub constant: f32,
    /// Huber's δ.
    pub delta: f32,
    /// Step length.
    pub step: f32,
    /// Nothing: a uniform is a multiple of 16 bytes.
    pub unused: f32,
}
