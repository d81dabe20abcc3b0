//! One integration binary, a module an area.

#![allow(unreachable_pub)] // Modules of a test binary share items; nothing is reachable from outside.

mod bill;
mod capacity;
mod checkpoint;
mod command;
mod completion;
mod config;
mod contention;
mod cpulist;
mod damping;
mod delays;
mod drift;
mod export;
mod feeding;
mod generate;
mod golden;
mod gossip;
mod gpu;
mod guest;
mod inspect;
mod layout;
mod liblinear;
mod loss;
mod mapped;
mod memory;
mod model;
mod os;
mod pairs;
mod piag;
mod placement;
mod prox;
mod readers;
mod real_sets;
mod reduced_variance;
mod reference;
mod refusal;
mod replicated;
mod shared;
mod solve;
mod tidy;
mod topology;
mod touched;
mod trace;
mod verify;
