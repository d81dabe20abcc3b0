//! `[data]`, and the keys of `[parameters]` that say where and how parameters lie in memory.

use serde::Serialize;

/// Where the parameters live. Nodes have the system's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterMemory {
    /// Each replica on the node of its workers (of most of them, where they are on several).
    Local,
    /// Each replica's pages in turn on the nodes that have workers.
    Interleave,
    /// Each replica cut into as many runs as it has workers, each run on its worker's node.
    Sharded,
    /// All replicas on this node.
    Node(u32),
    /// Each page where the thread runs that writes it first.
    FirstTouch,
}

impl ParameterMemory {
    /// The node that all of it is to lie on, if one is named.
    pub fn node(self) -> Option<u32> {
        match self {
            ParameterMemory::Node(node) => Some(node),
            _ => None,
        }
    }
}

/// Where the data live. Nodes have the system's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataMemory {
    /// Each node's workers have a share of the rows, on their node.
    Shard,
    /// Each node's workers have all rows, on their node, in an order of their own.
    Replicate,
    /// Shares as with `shard`; their pages in turn on the nodes that have workers.
    Interleave,
    /// Shares as with `shard`, all on this node.
    Node(u32),
    /// Shares as with `shard`; each page where the thread runs that writes it first.
    FirstTouch,
}

impl DataMemory {
    /// The node that all of it is to lie on, if one is named.
    pub fn node(self) -> Option<u32> {
        match self {
            DataMemory::Node(node) => Some(node),
            _ => None,
        }
    }
}

/// Which pages large arrays ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HugePages {
    /// Pages of the smallest size.
    Never,
    /// Huge ones where the kernel has some.
    Transparent,
}

/// In which order coordinates lie in a replica. The hot ones are those that most rows touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// By column.
    Plain,
    /// The hottest first: few lines hold what most updates touch.
    Frequency,
    /// The hottest apart, one a line as far as lines go: two hot ones never share a line.
    Scatter,
    /// The hottest, up to 4096 of them, alone on lines of their own; the others by column.
    Padded,
}

/// `[data]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DataPlacement {
    /// `memory`.
    pub memory: DataMemory,
    /// `huge_pages`, for the data and the parameters alike.
    pub huge_pages: HugePages,
}
