//! What sharing costs on a machine.
//!
//! [`machine`] measures the price list of this host: a survey of questions that fits the seconds given, an instrument that
//! answers them, and a [`PriceList`](crate::machine::PriceList) made of the answers.

pub mod machine;
