//! One integration binary, a module an area.

mod cpulist;
mod shared;
mod topology;
