//! Gradients of batches: the kernels' twin against f64, and the kernels themselves.

mod bound;
mod cases;
#[cfg(feature = "gpu")]
mod device;
mod twin;

/// Says that `test` is skipped for want of an adapter, past the test harness, which keeps what a passing test prints to itself.
#[cfg(feature = "gpu")]
pub fn no_adapter(test: &str) {
    use std::io::Write;
    let line = format!("skipped: {test}: no adapter (Debian: apt-get install mesa-vulkan-drivers libvulkan1)\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error");
}
