//! Devices by wgpu: adapters, kernels, buffers, dispatch.
//!
//! Rows lie on the device in slabs (`slab.rs`), each as large as a kernel can see as one array. A batch is cut into one list of rows a
//! slab; each slab's kernels (`steps.rs`) add to the same gradient, all in one submission. Two batches may be under way, with a set
//! of buffers each (`set.rs`): while one computes, the next is written to memory that is mapped, and nothing is allocated.
//!
//! Rows that the device has no memory for stay on the host. Those of a batch are gathered, sent in pieces as large as one slab
//! that is kept for them, and computed on likewise, a submission a piece: what is sent is the batch's rows, not all rows.

mod bindings;
mod block;
mod copying;
mod gradients;
mod hogwild;
mod kernels;
mod moving;
mod open;
mod packed;
mod set;
pub mod shaders;
mod slab;
mod steps;

pub use block::Block;
pub use copying::Copying;
pub use gradients::DeviceGradients;
pub use hogwild::Pass;
pub use open::Device;

pub(super) use open::list;
