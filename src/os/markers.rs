//! Marks round the inner loop, for a program that watches the instructions: `tests/vm/numacount` counts the loads and
//! stores of a cpu between them, by the node of the memory. Each mark is one no-op of 7 bytes whose unused displacement
//! spells it; a worker passes two a window, and nothing looks at them on a machine that is not watched. On other
//! processors than x86-64 there are none.

// One instruction that the language cannot write.
#![allow(unsafe_code)]

/// This worker's updates of a window begin.
#[inline(always)]
pub fn start() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `nopl 0x4e554d01(%rax)` computes an address and does nothing with it: no register, flag, memory or stack
    // changes. It is stated to touch memory so that the compiler moves no access across it.
    unsafe {
        core::arch::asm!(".byte 0x0f, 0x1f, 0x80, 0x01, 0x4d, 0x55, 0x4e", options(nostack, preserves_flags));
    }
}

/// This worker's updates of a window are done.
#[inline(always)]
pub fn stop() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as in `start`.
    unsafe {
        core::arch::asm!(".byte 0x0f, 0x1f, 0x80, 0x02, 0x4d, 0x55, 0x4e", options(nostack, preserves_flags));
    }
}

/// All updates of a run are done: what was counted is complete.
#[inline(always)]
pub fn end() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as in `start`.
    unsafe {
        core::arch::asm!(".byte 0x0f, 0x1f, 0x80, 0x03, 0x4d, 0x55, 0x4e", options(nostack, preserves_flags));
    }
}
