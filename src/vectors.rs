//! One binary for every cpu of its kind: loops compiled twice, chosen between when the program runs.

use pulp::Arch;

/// Runs `work` as compiled for the vectors of this cpu: for AVX2 with fused products and sums where there are, else for
/// what every cpu of this kind has. Told whether a product and a sum are one instruction, which elsewhere are a call.
///
/// Only what is inlined into `work` is compiled so; mark the closure and what it calls `#[inline(always)]`. A look at a
/// cached flag, so it goes around a loop, not into one.
#[inline(always)]
pub fn on_vectors<R>(work: impl FnOnce(bool) -> R) -> R {
    match Arch::new() {
        #[cfg(target_arch = "x86_64")]
        Arch::V3(v3) => pulp::Simd::vectorize(
            v3,
            #[inline(always)]
            || work(true),
        ),
        _ => work(cfg!(target_arch = "aarch64")),
    }
}

/// ab + c, rounded once if `fused`, else twice.
#[inline(always)]
pub fn multiply_add(fused: bool, a: f64, b: f64, c: f64) -> f64 {
    if fused { a.mul_add(b, c) } else { a * b + c }
}
