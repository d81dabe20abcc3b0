//! So many turns, taken by whoever comes first.

use super::{AtomicU64, Ordering};

/// Turns that are left. What a turn is about is published by other means: here is only the number.
#[derive(Debug, Default)]
pub struct Tickets(AtomicU64);

impl Tickets {
    /// From now on `count` are left. For between the phases.
    pub fn open(&self, count: u64) {
        self.0.store(count, Ordering::Relaxed);
    }

    /// Takes one; false if none is left.
    pub fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_tickets_as_were_opened_whoever_takes_them() {
        let tickets = Tickets::default();
        assert!(!tickets.take());
        tickets.open(1000);
        let taken: usize = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| tickets.take().then_some(())).count()))
                .collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).sum()
        });
        assert_eq!(taken, 1000);
        assert!(!tickets.take());
    }
}
