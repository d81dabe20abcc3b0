//! Gradients of batches of rows, worked out by a device that is not a worker's own cpu.
//!
//! A device is the worker with the longest delay and the largest batch: it is given a copy of x, computes while the cpus go
//! on, and hands back the gradient at the x it was given. [`Gradients`] is what a run knows of it. [`Twin`] answers the same
//! questions on the cpu, in f32 and in the order of summation of the kernels in `gpu/*.wgsl`: tests hold the kernels to it, and a
//! run whose device is gone goes on with it.
//!
//! Everything here is in f32 but what crosses the trait: x is rounded when it is sent, sums are widened when they are taken.
//! How far that can be from the same sums in f64 is derived in `gpu/README.md`.

use crate::error::Result;

mod adapters;
mod cut;
#[cfg(feature = "gpu")]
pub mod device;
mod half;
mod terms;
mod twin;

pub use adapters::{Adapter, Features, Limits, choose, list};
pub use cut::Cut;
pub use terms::{Entries, Terms};
pub use twin::Twin;

/// Gradients of batches of the rows it was made with, of which it has a copy of its own.
///
/// With margins zᵢ = aᵢᵀx + c, a batch is a list of rows, in which a row may stand more than once.
pub trait Gradients: Send {
    /// Batches that may be started and not yet taken: 2, so that one computes while the next is sent.
    fn depth(&self) -> usize;
    /// Number of slots of x and of a gradient.
    fn width(&self) -> usize;
    /// Starts on g = Σ wᵢ φ′(zᵢ, bᵢ) aᵢ over `rows` (indices into the rows it was made with). `x` by slot.
    ///
    /// # Errors
    /// A device that is lost, or out of memory. What was started before is then lost too.
    ///
    /// # Panics
    /// If `x` is not as wide as the rows, a row is not there, or [`Gradients::depth`] batches wait to be taken.
    fn start(&mut self, x: &[f64], constant: f64, rows: &[u32]) -> Result<()>;
    /// Waits for the oldest batch that was started and not taken; writes g by slot.
    ///
    /// # Errors
    /// As [`Gradients::start`].
    ///
    /// # Panics
    /// If none was started, or `gradient` is not as wide as the rows.
    fn take(&mut self, gradient: &mut [f64]) -> Result<Sums>;
}

/// What a batch sums to beside its gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Σ wᵢ φ(zᵢ, bᵢ).
    pub loss: f64,
    /// Σ wᵢ φ′(zᵢ, bᵢ): the derivative in c.
    pub slope: f64,
}

/// How a device computes. Beside the defaults there is reason for others in tests and benches.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// A part of the adapter's name, or of its PCI address; without one the first that is not software.
    pub adapter: Option<String>,
    /// Rows of a batch at most: buffers are made for them beforehand.
    pub batch_rows: usize,
    /// Whether sparse rows are kept by columns as well, which takes their memory again, so that batches of each row once need no
    /// atomic addition.
    pub by_columns: bool,
    /// Whether subgroups may be used where the adapter's all have the size of a team.
    pub subgroups: bool,
    /// Whether floats may be added atomically where the adapter can; else they are exchanged by their bits.
    pub float_atomics: bool,
    /// Bytes of rows that are kept on the device at most; rows beyond are sent with each batch that names them. Without a number,
    /// as many as the device has memory for.
    pub resident_bytes: Option<u64>,
}

impl Options {
    /// For batches of `batch_rows` rows.
    pub fn new(batch_rows: usize) -> Self {
        Options {
            adapter: None,
            batch_rows,
            by_columns: false,
            subgroups: true,
            float_atomics: true,
            resident_bytes: None,
        }
    }
}

/// What a device that was opened is.
pub struct Opened {
    /// Its gradients.
    pub gradients: Box<dyn Gradients>,
    /// The adapter.
    pub adapter: Adapter,
}

/// Gradients of `terms` by a device.
///
/// # Errors
/// No adapter, a device that refuses, or too little memory for buffers; in a program built without devices always.
pub fn open(terms: Terms, options: &Options) -> Result<Opened> {
    #[cfg(not(feature = "gpu"))]
    {
        let _ = (terms, options);
        Err(adapters::without())
    }
    #[cfg(feature = "gpu")]
    {
        let made = device::DeviceGradients::new(device::Device::open(options.adapter.as_deref())?, terms, options)?;
        let adapter = made.adapter().clone();
        Ok(Opened { gradients: Box::new(made), adapter })
    }
}
