//! farrow
#![doc = ""]
pub mod checkpoint;
pub mod config;
pub mod data;
pub mod error;
pub mod loss;
pub mod model;
pub mod os;
pub mod placement;
pub mod prox;
pub mod topology;
pub mod trace;
