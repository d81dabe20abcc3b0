//! SIGINT and SIGTERM: the first asks the run to stop at its next sample and save, the second ends the process.

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};
// The flags are shared with a signal handler, which only atomics may be.
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Which signal came, once [`Interrupt::install`] was called.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// The signal's number; 0 before it came.
    received: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Catches SIGINT and SIGTERM from now on. After the first of either, the next ends the process at once with its
    /// exit code.
    ///
    /// # Errors
    /// The system's, if a handler cannot be set.
    pub fn install() -> std::io::Result<Self> {
        let interrupt = Interrupt::default();
        let armed = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Handlers run in the order they were registered: the shutdown looks at `armed` before this signal sets it.
            flag::register_conditional_shutdown(signal, exit_code(signal), Arc::clone(&armed))?;
            flag::register(signal, Arc::clone(&armed))?;
            flag::register_usize(signal, Arc::clone(&interrupt.received), signal as usize)?;
        }
        Ok(interrupt)
    }

    /// True once a signal came.
    pub fn received(&self) -> bool {
        self.received.load(Ordering::Relaxed) != 0
    }

    /// The exit code for the signal that came: 130 for SIGINT, 143 for SIGTERM.
    pub fn exit_code(&self) -> Option<u8> {
        let signal = self.received.load(Ordering::Relaxed);
        (signal != 0).then(|| exit_code(signal as i32) as u8)
    }
}

/// What a shell shows for a process that a signal ended.
fn exit_code(signal: i32) -> i32 {
    128 + signal
}
