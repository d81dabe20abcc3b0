//! What a plan takes of each node's memory, and whether it is there: arithmetic, before anything is allocated.

use crate::{
    error::{Error, Result},
    os::memory::Home,
};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write};

/// Bytes by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Rows or columns with what belongs to each: label, weight, norm, the method's state.
    pub data: f64,
    /// Replicas of the parameters.
    pub parameters: f64,
    /// What workers keep for themselves: sums for certificates, exchanges, orders of rows.
    pub workers: f64,
}

impl Cost {
    /// Bytes of data.
    pub fn of_data(bytes: f64) -> Self {
        Cost { data: bytes, ..Cost::default() }
    }

    /// Bytes of parameters.
    pub fn of_parameters(bytes: f64) -> Self {
        Cost { parameters: bytes, ..Cost::default() }
    }

    /// Bytes of workers' own arrays.
    pub fn of_workers(bytes: f64) -> Self {
        Cost { workers: bytes, ..Cost::default() }
    }

    /// All of it.
    pub fn bytes(&self) -> f64 {
        self.data + self.parameters + self.workers
    }

    fn add(&mut self, other: Cost, share: f64) {
        self.data += share * other.data;
        self.parameters += share * other.parameters;
        self.workers += share * other.workers;
    }
}

/// Bytes by node.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Costs {
    /// On each node, by the system's number.
    pub nodes: BTreeMap<u32, Cost>,
    /// Wherever it is touched first.
    pub anywhere: Cost,
}

/// Memory that there is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Room {
    /// Bytes in all, and what bounds them.
    pub all: Option<(u64, String)>,
    /// Bytes by node, by the system's number, where the kernel says so.
    pub nodes: BTreeMap<u32, u64>,
    /// Bytes by node that the data hold now, and that become free as they are copied to where they are to lie.
    pub released: BTreeMap<u32, u64>,
}

impl Costs {
    /// Adds what lies at `home`.
    pub fn add(&mut self, home: &Home, cost: Cost) {
        match home.nodes() {
            [] => self.anywhere.add(cost, 1.0),
            nodes => {
                let share = 1.0 / nodes.len() as f64;
                nodes.iter().for_each(|&node| self.nodes.entry(node).or_default().add(cost, share));
            }
        }
    }

    /// Bytes in all.
    pub fn total(&self) -> Cost {
        let mut total = self.anywhere;
        self.nodes.values().for_each(|&cost| total.add(cost, 1.0));
        total
    }

    /// One line a node: what lies there, and of how much.
    pub fn describe(&self, room: &Room) -> String {
        let mut text = String::new();
        for (node, cost) in &self.nodes {
            let of = room.nodes.get(node).map_or(String::new(), |&free| format!(" of {} free", size(free as f64)));
            let _ = writeln!(text, "node {node}: {}{of}", parts(cost));
        }
        if self.anywhere.bytes() > 0.0 {
            let of =
                room.all.as_ref().map_or(String::new(), |(free, _)| format!(" of {} free", size(*free as f64)));
            let _ = writeln!(text, "where first touched: {}{of}", parts(&self.anywhere));
        }
        text
    }

    /// Refuses what does not fit, with the arithmetic; `formula` says what the parts are made of.
    ///
    /// # Errors
    /// [`Error::Unmet`].
    pub fn check(&self, room: &Room, formula: &str) -> Result<()> {
        let refused = |where_: String, cost: &Cost, free: u64, released: u64, bound: &str| {
            let released = if released > 0 {
                format!(", {} more as the data are copied", size(released as f64))
            } else {
                String::new()
            };
            Error::unmet(
                format!(
                    "{where_} would take {} ({}), and {} are free there{released}{bound}; {formula}",
                    size(cost.bytes()),
                    parts(cost),
                    size(free as f64)
                ),
                "Spread it (data.memory = \"shard\" or \"interleave\", parameters.memory = \"interleave\" or \"sharded\"), \
                 keep fewer replicas (parameters.replicas = \"machine\") or workers, or take less data; check the largest \
                 column number of the data.",
            )
        };
        let (total, released) = (self.total(), room.released.values().sum::<u64>());
        if let Some((free, bound)) = &room.all
            && total.bytes() > (*free + released) as f64
        {
            return Err(refused("the run".into(), &total, *free, released, &format!(" (limited by {bound})")));
        }
        for (node, cost) in &self.nodes {
            let released = room.released.get(node).copied().unwrap_or(0);
            if let Some(&free) = room.nodes.get(node)
                && cost.bytes() > (free + released) as f64
            {
                return Err(refused(format!("node {node}"), cost, free, released, ""));
            }
        }
        Ok(())
    }
}

fn parts(cost: &Cost) -> String {
    format!("data {}, parameters {}, workers' own {}", size(cost.data), size(cost.parameters), size(cost.workers))
}

/// In the unit that suits it.
pub(crate) fn size(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (0..units.len() - 1).take_while(|&k| bytes >= 1024f64.powi(k as i32 + 1)).count();
    let value = bytes / 1024f64.powi(unit as i32);
    if unit == 0 { format!("{value:.0} B") } else { format!("{value:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = (1 << 20) as f64;

    fn costs() -> Costs {
        let mut costs = Costs::default();
        costs.add(&Home::Node(3), Cost::of_data(64.0 * MIB));
        costs.add(&Home::Interleave(vec![0, 3]), Cost::of_parameters(32.0 * MIB));
        costs.add(&Home::Runs(vec![0, 0, 3, 3]), Cost::of_workers(4.0 * MIB));
        costs.add(&Home::FirstTouch, Cost::of_workers(MIB));
        costs
    }

    #[test]
    fn what_lies_in_turn_or_in_runs_is_shared_out() {
        let costs = costs();
        let (zero, three) = (costs.nodes[&0], costs.nodes[&3]);
        assert_eq!((zero.parameters, zero.workers, zero.data), (16.0 * MIB, 2.0 * MIB, 0.0));
        assert_eq!((three.parameters, three.workers, three.data), (16.0 * MIB, 2.0 * MIB, 64.0 * MIB));
        assert_eq!(costs.total().bytes(), 101.0 * MIB);
    }

    #[test]
    fn the_node_that_is_too_small_is_named_with_the_arithmetic() {
        let mut room = Room { all: Some((1 << 30, "the machine".into())), ..Room::default() };
        room.nodes = BTreeMap::from([(0, 20 << 20), (3, 80 << 20)]);
        let error = costs().check(&room, "8 bytes an entry").expect_err("82 MiB in 80").to_string();
        for part in ["node 3", "82.0 MiB", "data 64.0 MiB", "80.0 MiB are free", "8 bytes an entry"] {
            assert!(error.contains(part), "{part}: {error}");
        }
        room.released = BTreeMap::from([(0, 64 << 20)]);
        costs().check(&room, "").expect_err("what becomes free on another node does not help");
        room.released = BTreeMap::from([(3, 2 << 20)]);
        costs().check(&room, "").expect("what is copied from becomes free");
        room.all = Some((90 << 20, "the control group's limit".into()));
        let error = costs().check(&room, "").expect_err("101 MiB in 92").to_string();
        assert!(error.contains("the run would take 101.0 MiB") && error.contains("control group"), "{error}");
    }

    #[test]
    fn a_node_of_which_nothing_is_known_is_not_refused() {
        costs().check(&Room::default(), "").expect("nothing is known");
        assert!(costs().describe(&Room::default()).contains("node 3: data 64.0 MiB, parameters 16.0 MiB"));
    }
}
