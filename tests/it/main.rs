//! One integration binary, a module an area.

mod config;
mod cpulist;
mod shared;
mod topology;
