//! The text of a kernel: constants, then the pieces of `gpu/` that it is made of, one after the other.

use crate::{
    gpu::{
        Cut,
        cut::{FAN, LANES},
    },
    loss::Loss,
};

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// `dense.wgsl`.
    Dense,
    /// `margins.wgsl`.
    Margins,
    /// `slopes.wgsl`.
    Slopes,
    /// `columns.wgsl`.
    Columns,
    /// `sparse.wgsl`.
    Sparse,
    /// `sparse_columns.wgsl`.
    SparseColumns,
    /// `reduce.wgsl`.
    Reduce,
    /// `hogwild.wgsl`.
    Hogwild,
    /// `copy.wgsl`.
    Copy,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Kernel; 9] = [
        Kernel::Dense,
        Kernel::Margins,
        Kernel::Slopes,
        Kernel::Columns,
        Kernel::Sparse,
        Kernel::SparseColumns,
        Kernel::Reduce,
        Kernel::Hogwild,
        Kernel::Copy,
    ];
}

/// What a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Form {
    /// φ.
    pub loss: Loss,
    /// How work is cut.
    pub cut: Cut,
    /// Whether rows are sparse.
    pub sparse: bool,
    /// Whether values have two bytes.
    pub halved: bool,
    /// Whether a team is a subgroup.
    pub subgroups: bool,
    /// Whether floats are added atomically.
    pub float_atomics: bool,
    /// Whether Hogwild! loses nothing.
    pub lossless: bool,
}

macro_rules! piece {
    ($name:literal) => {
        include_str!(concat!("../../../gpu/", $name, ".wgsl"))
    };
}

/// The text of `kernel`.
pub fn source(kernel: Kernel, form: &Form) -> String {
    let either = |first: bool, yes, no| if first { yes } else { no };
    let team = either(form.subgroups, piece!("team_subgroup"), piece!("team_shared"));
    let quads = either(form.halved, piece!("quads_f16"), piece!("quads_f32"));
    let values = either(form.halved, piece!("values_f16"), piece!("values_f32"));
    let rows = either(form.sparse, piece!("rows_sparse"), piece!("rows_dense"));
    let add = either(form.float_atomics, piece!("add_native"), piece!("add_exchange"));
    let merge = either(form.lossless, piece!("lossless"), piece!("lossy"));
    let loss = piece!("loss");
    let pieces: &[&str] = match kernel {
        Kernel::Dense => &[loss, team, quads, piece!("dense")],
        Kernel::Margins => &[team, values, rows, piece!("margins")],
        Kernel::Slopes => &[loss, piece!("team_shared"), piece!("slopes")],
        Kernel::Columns => &[quads, piece!("columns")],
        Kernel::Sparse => &[loss, team, values, piece!("rows_sparse"), add, piece!("sparse")],
        Kernel::SparseColumns => &[team, values, piece!("rows_sparse"), piece!("sparse_columns")],
        Kernel::Reduce => &[piece!("reduce")],
        Kernel::Hogwild => &[loss, team, values, rows, merge, piece!("hogwild")],
        Kernel::Copy => &[piece!("copy")],
    };
    let mut text = constants(form);
    text.push_str(piece!("batch"));
    pieces.iter().for_each(|piece| text.push_str(piece));
    text
}

fn constants(form: &Form) -> String {
    let (group, team) = (form.cut.group(), form.cut.team());
    let number = match form.loss {
        Loss::Logistic => 0,
        Loss::Squared => 1,
        Loss::Hinge => 2,
        Loss::SquaredHinge => 3,
        Loss::Huber { .. } => 4,
    };
    let constants = [("GROUP", group), ("TEAM", team), ("FAN", FAN.min(team)), ("LANES", LANES), ("LOSS", number)];
    constants.iter().map(|(name, value)| format!("const {name}: u32 = {value}u;\n")).collect()
}
