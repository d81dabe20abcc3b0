//! Gradients of batches: the kernels' twin against f64, and the kernels themselves.

mod bound;
mod cases;
#[cfg(feature = "gpu")]
mod device;
mod twin;
