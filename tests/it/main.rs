//! One integration binary, a module an area.

mod checkpoint;
mod config;
mod cpulist;
mod golden;
mod loss;
mod mapped;
mod model;
mod os;
mod placement;
mod prox;
mod readers;
mod shared;
mod topology;
