//! How often a compare-exchange of this thread found that another had come first.

use std::cell::Cell;

thread_local! {
    static RETRIES: Cell<u64> = const { Cell::new(0) };
}

/// Counts one. Nothing is counted, and nothing paid, where the first try succeeds: a failed one has just waited for a line of
/// another cpu's.
#[cold]
pub(super) fn count() {
    RETRIES.with(|retries| retries.set(retries.get() + 1));
}

/// Those of this thread since it was last asked.
pub fn take() -> u64 {
    RETRIES.with(|retries| retries.replace(0))
}

#[cfg(test)]
mod tests {
    use crate::sync::{SharedF64, Slot, retries};

    #[test]
    fn a_retry_is_counted_where_another_write_came_between_and_nowhere_else() {
        retries::take();
        let slot = SharedF64::new(1.0);
        slot.add(1.0);
        assert_eq!(retries::take(), 0);
        let mut interrupted = false;
        let again = slot.exchange(|value| {
            if !std::mem::replace(&mut interrupted, true) {
                slot.put(10.0);
            }
            value + 1.0
        });
        assert_eq!((again, retries::take(), retries::take(), slot.read()), (1, 1, 0, 11.0));
    }
}
