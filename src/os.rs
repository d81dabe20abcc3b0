//! The kernel interface. `unsafe` lives below here.

pub mod affinity;
pub mod capacity;
pub mod cgroup;
pub mod clock;
pub mod counters;
pub mod disturbance;
pub mod host;
pub mod hwloc;
pub mod mapped_file;
pub mod markers;
pub mod memory;
pub mod signals;
