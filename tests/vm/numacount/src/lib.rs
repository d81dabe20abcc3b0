//! A QEMU (TCG) plugin that counts the loads and stores of a program's inner loop by the node of the cpu and the node of
//! the memory. Counting is exact: every access of every instruction is seen.
//!
//! A thread says where its inner loop is by three no-ops ([`marks`]). Counting is per cpu, from `start` to `stop` on the
//! same cpu, so that what a thread does elsewhere, such as waiting for others at a barrier, is not in it: threads must
//! be bound to a cpu each. `end` prints a report and starts from zero.
//!
//! Arguments, as `tests/vm/guest` gives them:
//!
//! | argument | meaning |
//! | --- | --- |
//! | `cpus=0:0:1:1` | node of virtual cpu 0, 1, 2, 3, in the order in which QEMU makes them |
//! | `memory=512:512` | MiB of node 0, 1, in QEMU's order |
//! | `top=20` | also print the 20 pages and the 20 instructions with the most remote accesses; 0 is the default |
//!
//! The report goes to QEMU's log (`-d plugin -D FILE`); see [`report`].

mod api;
mod count;
mod machine;
mod marks;
mod report;

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::OnceLock,
};

/// Version of QEMU's plugin interface that this is written for.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = 1;

/// All that callbacks need; set before the first is registered.
static COUNTS: OnceLock<count::Counts> = OnceLock::new();

/// Called by QEMU when it loads the plugin; anything but 0 makes QEMU stop.
///
/// # Safety
/// `argv` must point to `argc` strings, as QEMU's do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: api::PluginId,
    _info: *const c_void,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let arguments = (0..usize::try_from(argc).unwrap_or(0)).map(|k| {
        // SAFETY: QEMU passes `argc` pointers to strings that end in NUL and live as long as this call.
        unsafe { CStr::from_ptr(*argv.add(k)) }.to_string_lossy().into_owned()
    });
    match machine::Machine::from_arguments(arguments) {
        Ok(machine) => {
            COUNTS.get_or_init(|| count::Counts::new(machine));
            api::on_translation(id, marks::instrument);
            0
        }
        Err(message) => {
            eprintln!("numacount: {message}");
            -1
        }
    }
}

/// The counts that [`qemu_plugin_install`] made.
fn counts() -> &'static count::Counts {
    COUNTS.get().expect("callbacks are registered after the counts are made")
}
