//! What sharing memory costs: on a machine, and in a run.
//!
//! [`machine`] measures the price list of this host: a survey of questions that fits the seconds given, an instrument that
//! answers them, and a [`PriceList`](crate::machine::PriceList) made of the answers. [`run`] draws up the bill of a run.

pub mod machine;
pub mod run;
