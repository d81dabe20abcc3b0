//! Everything that two threads touch at once: the only module that names an atomic.
//!
//! Parameters are [`Slot`]s. All their accesses are `Relaxed`: Hogwild!'s theory asks for no order between
//! coordinates, and a relaxed load, add and store compiles to the same instructions as plain code. What orders one
//! phase of a run against the next is the [`Gate`].

use atomic_float::{AtomicF32, AtomicF64};
use std::{
    cell::Cell,
    sync::atomic::{
        AtomicBool, AtomicU8, AtomicU32, AtomicU64,
        Ordering::{self, Relaxed},
    },
};

mod count;
mod gate;
mod line;
mod owner;
mod progress;
mod rest;
pub mod retries;
mod stripes;
mod tickets;
pub mod touched;

pub use count::Count;
pub use gate::{Gate, Watch};
pub use line::Line;
pub use owner::{LastWrite, Owner};
pub use progress::Progress;
pub use rest::Rest;
pub use stripes::{Held, Stripes};
pub use tickets::Tickets;
pub use touched::Touched;

/// A place for one parameter, read and written as f64.
pub trait Slot {
    /// A slot that holds `value`.
    fn new(value: f64) -> Self;
    /// The value.
    fn read(&self) -> f64;
    /// Puts `value`, rounded to the slot's type.
    fn put(&self, value: f64);
    /// x ← f(x) such that no other such update is lost; returns how often it had to start again.
    fn exchange(&self, f: impl FnMut(f64) -> f64) -> u32;
    /// x ← x + delta such that no other update is lost.
    fn add(&self, delta: f64);
    /// The same; counts how often it had to start again ([`retries`]).
    fn add_counted(&self, delta: f64);
}

/// 8 bytes, shared between threads.
pub type SharedF64 = AtomicF64;
/// 4 bytes, shared between threads.
pub type SharedF32 = AtomicF32;

macro_rules! shared_slot {
    ($atomic:ty, $plain:ty) => {
        impl Slot for $atomic {
            #[inline(always)]
            fn new(value: f64) -> Self {
                <$atomic>::new(value as $plain)
            }

            #[inline(always)]
            fn read(&self) -> f64 {
                f64::from(<$atomic>::load(self, Relaxed))
            }

            #[inline(always)]
            fn put(&self, value: f64) {
                <$atomic>::store(self, value as $plain, Relaxed);
            }

            #[inline]
            fn exchange(&self, mut f: impl FnMut(f64) -> f64) -> u32 {
                let mut seen = <$atomic>::load(self, Relaxed);
                let mut again = 0;
                loop {
                    let next = f(f64::from(seen)) as $plain;
                    match self.compare_exchange_weak(seen, next, Relaxed, Relaxed) {
                        Ok(_) => return again,
                        Err(other) => seen = other,
                    }
                    retries::count();
                    again += 1;
                }
            }

            #[inline(always)]
            fn add(&self, delta: f64) {
                self.fetch_add(delta as $plain, Relaxed);
            }

            #[inline(always)]
            fn add_counted(&self, delta: f64) {
                // Not the crate's own fetch_add, which keeps its retries to itself.
                let (mut seen, delta) = (<$atomic>::load(self, Relaxed), delta as $plain);
                while let Err(other) = self.compare_exchange_weak(seen, seen + delta, Relaxed, Relaxed) {
                    retries::count();
                    seen = other;
                }
            }
        }
    };
}

shared_slot!(AtomicF64, f64);
shared_slot!(AtomicF32, f32);

macro_rules! plain_slot {
    ($plain:ty) => {
        impl Slot for Cell<$plain> {
            #[inline(always)]
            fn new(value: f64) -> Self {
                Cell::new(value as $plain)
            }

            #[inline(always)]
            fn read(&self) -> f64 {
                f64::from(self.get())
            }

            #[inline(always)]
            fn put(&self, value: f64) {
                self.set(value as $plain);
            }

            #[inline(always)]
            fn exchange(&self, mut f: impl FnMut(f64) -> f64) -> u32 {
                self.set(f(f64::from(self.get())) as $plain);
                0
            }

            #[inline(always)]
            fn add(&self, delta: f64) {
                self.set((f64::from(self.get()) + delta) as $plain);
            }

            #[inline(always)]
            fn add_counted(&self, delta: f64) {
                self.add(delta);
            }
        }
    };
}

plain_slot!(f64);
plain_slot!(f32);

/// How two writes to one slot meet.
pub trait Merge: Copy + Send + Sync {
    /// x ← x + delta.
    fn add<S: Slot>(slot: &S, delta: f64);
    /// x ← f(x).
    fn update<S: Slot>(slot: &S, f: impl FnMut(f64) -> f64);
}

/// Load, add, store: of two writes that meet, one may be lost (PASSCoDe-Wild, Hogwild!'s racing stores).
#[derive(Clone, Copy, Debug)]
pub struct Lossy;

impl Merge for Lossy {
    #[inline(always)]
    fn add<S: Slot>(slot: &S, delta: f64) {
        slot.put(slot.read() + delta);
    }

    #[inline(always)]
    fn update<S: Slot>(slot: &S, mut f: impl FnMut(f64) -> f64) {
        slot.put(f(slot.read()));
    }
}

/// Compare-exchange: every write lands (PASSCoDe-Atomic).
#[derive(Clone, Copy, Debug)]
pub struct Lossless;

impl Merge for Lossless {
    #[inline(always)]
    fn add<S: Slot>(slot: &S, delta: f64) {
        slot.add_counted(delta);
    }

    #[inline(always)]
    fn update<S: Slot>(slot: &S, f: impl FnMut(f64) -> f64) {
        slot.exchange(f);
    }
}

/// A signal that is raised once.
#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Flag {
    /// Raises it.
    pub fn raise(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it is raised.
    #[inline(always)]
    pub fn is_raised(&self) -> bool {
        self.0.load(Relaxed)
    }
}
