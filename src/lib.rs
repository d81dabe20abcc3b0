//! farrow
#![doc = ""]
pub mod checkpoint;
pub mod config;
pub mod data;
pub mod error;
pub mod loss;
pub mod model;
pub mod os;
pub mod output;
pub mod placement;
pub mod prox;
pub mod report;
pub mod solve;
pub mod topology;
pub mod trace;
