//! Gradients of batches: the kernels' twin against f64, and the kernels against both.

mod bound;
mod cases;
mod twin;
