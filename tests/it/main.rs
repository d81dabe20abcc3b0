//! One integration binary, a module an area.

mod cpulist;
mod os;
mod placement;
mod shared;
mod topology;
