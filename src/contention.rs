//! Questions about a run, and about the machine: what sharing memory costs.

pub mod machine;
pub mod run;
