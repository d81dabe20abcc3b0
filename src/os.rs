//! The kernel interface. `unsafe` lives below here.

pub mod memory;
