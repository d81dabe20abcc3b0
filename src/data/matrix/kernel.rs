//! A hint to the cache.
//!
//! Why `unsafe`: the instruction takes a pointer. Without it, or on another processor, everything runs the same, only
//! slower; that is its plain twin.
#![allow(unsafe_code)]

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for the lines of `slice`. Reads nothing.
#[inline(always)]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = slice.as_ptr().cast::<i8>();
        for offset in (0..size_of_val(slice)).step_by(LINE) {
            // SAFETY: a prefetch never faults and changes nothing that a program can see, whatever the address; this one
            // lies within `slice`, so that computing it does not leave the allocation.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, LINE);
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_hint_changes_nothing() {
        let values: Vec<u32> = (0..1000).collect();
        super::prefetch(&values);
        super::prefetch(&values[..0]);
        assert_eq!(values, (0..1000).collect::<Vec<u32>>());
    }
}
