//! What sets one table of a field apart from the next.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Enums of plain names, one word for JSON, files and pages.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($name::$variant => $word),+ })
            }
        }
    };
}

named!(
    /// How a line is handed over.
    Operation {
        /// One writes, the other reads.
        ReadAfterWrite = "read-after-write",
        /// Both compare and exchange.
        CompareExchange = "compare-exchange",
        /// Both add.
        FetchAdd = "fetch-add",
    }
);

named!(
    /// In which state the line is when it is asked for.
    State {
        /// Modified in the other's cache, and nowhere else.
        Modified = "modified",
        /// In both caches, so that the writer must first take it from the other (upgrade).
        Shared = "shared",
    }
);

named!(
    /// Pages that memory is mapped by.
    PageSize {
        /// The system's smallest, 4 KiB on x86.
        Small = "small",
        /// Transparent huge pages, where the kernel gives them.
        Huge = "huge",
    }
);

named!(
    /// A pass over memory in order.
    Stream {
        /// Loads alone.
        Read = "read",
        /// Stores alone, of the ordinary kind: the cpu reads a line before it writes to it.
        Write = "write",
        /// One array loaded, changed, and stored to another.
        Copy = "copy",
    }
);

named!(
    /// What workers do to the one line that they all use.
    Contended {
        /// An integer addition, one instruction on x86.
        FetchAdd = "fetch-add",
        /// A lossless addition of an f64: compare and exchange until it lands.
        Lossless = "lossless-add",
        /// A lossy addition of an f64: load, add, store.
        Lossy = "lossy-add",
    }
);

named!(
    /// How two updates of a coordinate meet.
    UpdateMerge {
        /// Load, add, store.
        Lossy = "lossy",
        /// Compare and exchange.
        Lossless = "lossless",
        /// Under the stripe's lock.
        Locked = "locked",
    }
);

named!(
    /// What workers hand to each other.
    Handover {
        /// Nothing: all meet at a [`Gate`](crate::sync::Gate).
        Barrier = "barrier",
        /// A number, from each to the next in a ring.
        Token = "token",
        /// A block of 512 f64 that each copies out, changes and copies back, then passes to the next.
        Slot = "slot",
    }
);

named!(
    /// The nearest thing that two cpus share.
    Relation {
        /// The core.
        Smt = "SMT siblings",
        /// An L2 cache.
        L2 = "same L2",
        /// An L3 cache.
        L3 = "same L3",
        /// A NUMA node.
        Node = "same node",
        /// The machine.
        Machine = "other node",
    }
);

/// Key of [`transfer_ns`](super::PriceList::transfer_ns).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// How.
    pub operation: Operation,
    /// In which state the line was.
    pub state: State,
}

/// Key of [`latency_by_working_set_ns`](super::PriceList::latency_by_working_set_ns).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkingSet {
    /// On this cpu.
    pub cpu: u32,
    /// In pages of this size.
    pub pages: PageSize,
}

/// Key of [`latency_by_node_ns`](super::PriceList::latency_by_node_ns).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramLatency {
    /// From so many bytes, much more than the last cache has.
    pub bytes: u64,
    /// In pages of this size.
    pub pages: PageSize,
}

/// Key of [`bandwidth_by_node_gb_per_s`](super::PriceList::bandwidth_by_node_gb_per_s).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeStream {
    /// What is done.
    pub stream: Stream,
    /// Over an array of so many bytes a node (a copy: two).
    pub bytes: u64,
}

/// Key of [`bandwidth_by_threads_gb_per_s`](super::PriceList::bandwidth_by_threads_gb_per_s).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threads {
    /// What is done.
    pub stream: Stream,
    /// On the cpus of this node.
    pub node: u32,
}

/// Key of the loaded latency: cpus of a node and where the memory is that they all use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loaded {
    /// The cpus' node.
    pub node: u32,
    /// The memory's node.
    pub memory: u32,
    /// Cpus that read beside the one whose loads are timed.
    pub streams: u32,
}

/// Key of [`false_sharing_ns`](super::PriceList::false_sharing_ns).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FalseSharing {
    /// What the two cpus share.
    pub relation: Relation,
    /// The two.
    pub cpus: [u32; 2],
}

/// Key of [`update_ns`](super::PriceList::update_ns) and of the share that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Update {
    /// How two updates meet.
    pub merge: UpdateMerge,
    /// Of 100 updates so many go to the eight coordinates, on eight lines, that all workers share; the others to 4096 of
    /// the worker's own.
    pub conflict_percent: u32,
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.operation, self.state)
    }
}

impl fmt::Display for WorkingSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pages", self.pages)
    }
}

impl fmt::Display for DramLatency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB, {} pages", self.bytes >> 20, self.pages)
    }
}

impl fmt::Display for NodeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stream)
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, node {}", self.stream, self.node)
    }
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}, {} readers", self.node, self.streams)
    }
}

impl fmt::Display for FalseSharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {}, {}", self.cpus[0], self.cpus[1], self.relation)
    }
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} %", self.merge, self.conflict_percent)
    }
}
