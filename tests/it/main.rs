//! One integration binary, a module an area.

mod shared;
