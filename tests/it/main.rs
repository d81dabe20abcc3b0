//! One integration binary, a module an area.

mod checkpoint;
mod config;
mod cpulist;
mod model;
mod os;
mod placement;
mod shared;
mod topology;
