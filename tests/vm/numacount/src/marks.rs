//! The no-ops by which a program says where its inner loop is, and what is done to each instruction of it.
//!
//! | mark | bytes | instruction |
//! | --- | --- | --- |
//! | start | `0f 1f 80 01 4d 55 4e` | `nopl 0x4e554d01(%rax)` |
//! | stop | `0f 1f 80 02 4d 55 4e` | `nopl 0x4e554d02(%rax)` |
//! | end | `0f 1f 80 03 4d 55 4e` | `nopl 0x4e554d03(%rax)` |

use crate::{
    api::{self, Block, PluginId, Translated},
    counts, report,
};
use std::ffi::{c_uint, c_void};

/// Addresses of user space are below this: the kernel's own instructions and data are above.
const USER_BITS: u32 = 47;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Start,
    Stop,
    End,
}

fn mark(bytes: &[u8]) -> Option<Mark> {
    match bytes {
        [0x0f, 0x1f, 0x80, which, 0x4d, 0x55, 0x4e] => match which {
            1 => Some(Mark::Start),
            2 => Some(Mark::Stop),
            3 => Some(Mark::End),
            _ => None,
        },
        _ => None,
    }
}

/// True for an address of user space.
pub(crate) fn is_user(address: u64) -> bool {
    address >> USER_BITS == 0
}

/// Called by QEMU for every block that it translates.
pub(crate) extern "C" fn instrument(_: PluginId, block: *mut Block) {
    let each = |instruction: &Translated| {
        if !is_user(instruction.address()) {
            return;
        }
        match mark(instruction.bytes()) {
            Some(Mark::Start) => instruction.on_execution(start),
            Some(Mark::Stop) => instruction.on_execution(stop),
            Some(Mark::End) => instruction.on_execution(end),
            None => instruction.on_access(crate::count::access),
        }
    };
    // SAFETY: QEMU calls this with a block that it is translating.
    unsafe { api::each_instruction(block, each) }
}

extern "C" fn start(cpu: c_uint, _: *mut c_void) {
    counts().switch(cpu as usize, true);
}

extern "C" fn stop(cpu: c_uint, _: *mut c_void) {
    counts().switch(cpu as usize, false);
}

extern "C" fn end(_: c_uint, _: *mut c_void) {
    api::log(&report::text(&counts().take()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_other_no_ops() {
        assert_eq!(mark(&[0x0f, 0x1f, 0x80, 1, 0x4d, 0x55, 0x4e]), Some(Mark::Start));
        assert_eq!(mark(&[0x0f, 0x1f, 0x80, 2, 0x4d, 0x55, 0x4e]), Some(Mark::Stop));
        assert_eq!(mark(&[0x0f, 0x1f, 0x80, 3, 0x4d, 0x55, 0x4e]), Some(Mark::End));
        assert_eq!(mark(&[0x0f, 0x1f, 0x80, 0, 0, 0, 0]), None);
        assert_eq!(mark(&[0x90]), None);
    }
}
