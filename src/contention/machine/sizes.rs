//! How large the arrays of the probes are.

use super::View;
use crate::topology::Topology;

const MIB: u64 = 1 << 20;
/// A chase for memory's own latency goes over so many times the last cache: an eighth of its loads may still hit it.
const CHASE_CACHES: u64 = 8;
/// Arrays of streams (STREAM, McCalpin, asks for four times the last cache).
const STREAM_CACHES: u64 = 4;
/// Below this nothing is memory.
const BYTES_MIN: u64 = 8 * MIB;
/// What fresh memory takes to be written for the first time, in seconds a byte.
pub(super) const TOUCH_S: f64 = 0.6e-9;
/// What a chase takes to be laid out.
pub(super) const LAY_S: f64 = 1.0e-9;
/// What some laps of it take where it may fit a cache.
pub(super) const LAPS_S: f64 = 2.5e-9;
/// Arrays may take so much of the seconds to be filled.
const SHARE_MAX: f64 = 0.25;

/// Bytes of the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The last cache's, 32 MiB if unknown.
    pub cache: u64,
    /// A chase for memory's latency.
    pub chase: u64,
    /// An array of a stream, for all threads of a node together.
    pub stream: u64,
    /// The largest working set.
    pub set: u64,
}

impl Sizes {
    /// For a machine and so many seconds, of which a quarter at most may go to filling; the second is what was cut.
    /// `None` where even the smallest arrays would take longer.
    pub(super) fn of(view: &View<'_>, seconds: f64) -> (Option<Self>, Option<String>) {
        let cache = Sizes::cache_bytes(view.topology);
        let memory = view.memory_nodes().into_iter().filter_map(|node| view.topology.nodes[node].memory_bytes);
        let room = memory.min().map_or(u64::MAX, |bytes| bytes / 8);
        let wished = Sizes {
            cache,
            chase: (CHASE_CACHES * cache).clamp(256 * MIB, 2048 * MIB).next_power_of_two(),
            stream: (STREAM_CACHES * cache).clamp(64 * MIB, 2048 * MIB).next_multiple_of(MIB),
            set: (STREAM_CACHES * cache).clamp(64 * MIB, 512 * MIB).next_power_of_two(),
        };
        let nodes = view.memory_nodes().len().max(1) as f64;
        let mut sizes = wished;
        let cut = |bytes: u64| (bytes / 2).next_multiple_of(MIB);
        while sizes.filling_s(nodes) > SHARE_MAX * seconds || sizes.chase.max(sizes.stream) > room {
            if sizes.chase <= BYTES_MIN {
                let what = format!(
                    "arrays in memory: {} MiB of each node could not be filled in {seconds:.1} s, or are not there",
                    BYTES_MIN / MIB
                );
                return (None, Some(what));
            }
            sizes.chase = cut(sizes.chase);
            sizes.stream = cut(sizes.stream).min(sizes.chase);
            sizes.set = cut(sizes.set).min(sizes.chase);
        }
        let cut = (sizes != wished).then(|| {
            format!(
                "arrays: chases of {} MiB and streams of {} MiB in place of {} and {}, for want of time or memory; \
                 the last cache has {} MiB",
                sizes.chase / MIB,
                sizes.stream / MIB,
                wished.chase / MIB,
                wished.stream / MIB,
                cache / MIB
            )
        });
        (Some(sizes), cut)
    }

    /// The last cache's, or 32 MiB where it is unknown.
    pub(super) fn cache_bytes(topology: &Topology) -> u64 {
        let caches = topology.l3s.iter().chain(&topology.l2s).map(|cache| cache.bytes);
        caches.max().filter(|&bytes| bytes > 0).unwrap_or(32 * MIB)
    }

    /// Seconds until all arrays are filled: two for streams and one for chases a node.
    pub(super) fn filling_s(&self, nodes: f64) -> f64 {
        nodes * (2.0 * self.stream as f64 * TOUCH_S + self.chase as f64 * (TOUCH_S + LAY_S))
    }

    /// Bytes of working sets from 4 KiB on, `steps` an octave, and the largest.
    pub(super) fn sets(&self, steps: u32) -> Vec<u64> {
        let octaves = (self.set as f64 / 4096.0).log2();
        let points = (octaves * f64::from(steps)).floor() as u32;
        let at = |point: u32| (4096.0 * f64::from(point).mul_add(1.0 / f64::from(steps), 0.0).exp2()) as u64;
        let mut sets: Vec<u64> = (0..=points).map(|point| at(point) / 64 * 64).collect();
        sets.extend((sets.last() != Some(&self.set)).then_some(self.set));
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_ascend_from_4_kib_to_the_largest_with_so_many_an_octave() {
        let sizes = Sizes { cache: 1 << 20, chase: 1 << 28, stream: 1 << 26, set: 1 << 26 };
        for steps in [1, 2, 3] {
            let sets = sizes.sets(steps);
            assert!(sets.is_sorted_by(|a, b| a < b), "{sets:?}");
            assert_eq!((sets[0], sets[sets.len() - 1]), (4096, 1 << 26));
            assert_eq!(sets.len() as u32, 14 * steps + 1);
        }
    }

    #[test]
    fn arrays_shrink_with_the_time_and_the_memory_and_say_so() {
        let topology =
            Topology::from_synthetic("pack:8 [numa(memory=64GB)] l3:1(size=33554432) core:2 pu:1").unwrap();
        let view = View::of(&topology);
        let (plenty, cut) = Sizes::of(&view, 120.0);
        assert_eq!((plenty.unwrap().stream / MIB, cut), (128, None));
        let (less, cut) = Sizes::of(&view, 5.0);
        assert!(less.unwrap().chase < plenty.unwrap().chase && cut.is_some());
        assert!(Sizes::of(&view, 0.01).0.is_none());
        let topology = Topology::from_synthetic("pack:1 [numa(memory=512MB)] core:2 pu:1").unwrap();
        assert!(Sizes::of(&View::of(&topology), 120.0).0.unwrap().chase <= 64 * MIB);
    }
}
