//! The plan of measurements: what is asked of a machine, so that it fits a stated time.

use super::question::{AROUND_S, How, Meet, Question, Stream};
use crate::topology::Topology;
use serde::Serialize;
use std::collections::BTreeSet;

/// Passes through all questions.
const PASSES: u32 = 3;
/// A question is measured for no less and no more than this many seconds a pass.
const SLICE_S: (f64, f64) = (0.002, 0.05);
/// The part of the time that pairs of cpus may take.
const PAIRS_SHARE: f64 = 0.6;
/// The largest array a latency or bandwidth is taken on, and what it is where no cache is known.
const ARRAY_MAX: u64 = 256 << 20;

/// The sections that are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only(Option<BTreeSet<String>>);

impl Only {
    /// Names of sections.
    pub const NAMES: [&str; 9] = [
        "timer",
        "transfer",
        "latency",
        "bandwidth",
        "loaded",
        "contended",
        "false-sharing",
        "update",
        "hand-over",
    ];

    /// Those that `text` lists, separated by commas.
    ///
    /// # Errors
    /// The first that is none, with those there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names: BTreeSet<String> = text.split(',').map(|name| name.trim().to_string()).collect();
        match names.iter().find(|name| !Only::NAMES.contains(&name.as_str())) {
            Some(other) => {
                Err(format!("`{other}` is no section of a price list; there are {}", Only::NAMES.join(", ")))
            }
            None => Ok(Only(Some(names))),
        }
    }

    fn has(&self, section: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.contains(section))
    }
}

/// A question with its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// What is asked.
    pub question: Question,
    /// Seconds of measuring, each pass.
    pub slice_s: f64,
    /// Seconds that a pass of it is expected to take, its preparation included.
    pub seconds: f64,
}

/// The plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Survey {
    /// In the order in which a pass goes through them.
    pub items: Vec<Item>,
    /// Passes.
    pub passes: u32,
    /// Seconds that all is expected to take.
    pub seconds: f64,
    /// Cpus, in the order of the topology, that are measured: one a core where all would take too long.
    pub cpus: Vec<u32>,
    /// Nodes with memory, in the order of the topology.
    pub nodes: Vec<u32>,
    /// What was left out so as to fit the time, and why.
    pub left_out: Vec<String>,
}

/// What is to be asked of `topology` in `seconds`; sections of `only`.
///
/// Everything but pairs of cpus grows with nodes and with powers of two of workers, and is cut down to fewer passes, then to shorter
/// slices. Pairs of cpus grow as their square: where all do not fit their part of the time, one cpu a core is taken; then, of
/// pairs that are alike (the same L3, or the same two L3s), as many as fit, spaced evenly, and of each kind at least one.
pub fn survey(topology: &Topology, seconds: f64, only: &Only) -> Survey {
    let usable: Vec<u32> = topology.cpus.iter().filter(|cpu| cpu.usable).map(|cpu| cpu.os).collect();
    let nodes: Vec<u32> = (0..topology.nodes.len())
        .filter(|&node| topology.has_memory(node))
        .map(|node| topology.nodes[node].os)
        .collect();
    let mut left_out = Vec::new();
    let mut questions: Vec<Question> = others(topology, &usable, &nodes);
    questions.retain(|question| only.has(question.section()));
    let shortest =
        |questions: &[Question]| -> f64 { questions.iter().map(|question| question.around_s() + SLICE_S.0).sum() };
    let pairs_time = if only.has("transfer") {
        (PAIRS_SHARE * seconds).max(seconds - f64::from(PASSES) * shortest(&questions))
    } else {
        0.0
    };
    let (cpus, pairs) = pairs::chosen(topology, &usable, pairs_time / f64::from(PASSES), &mut left_out);
    if only.has("transfer") {
        let hows = [How::Read, How::Exchange, How::Add];
        let all = pairs.iter().flat_map(|&cpus| hows.map(|how| Question::Transfer { how, cpus }));
        questions.extend(all);
    }
    let passes =
        (1..=PASSES).rev().find(|&passes| f64::from(passes) * shortest(&questions) <= seconds).unwrap_or(1);
    drop_largest(&mut questions, seconds / f64::from(passes), &mut left_out, shortest);
    let around: f64 = questions.iter().map(Question::around_s).sum();
    let slice_s =
        ((seconds / f64::from(passes) - around) / questions.len().max(1) as f64).clamp(SLICE_S.0, SLICE_S.1);
    let items: Vec<Item> = questions
        .into_iter()
        .map(|question| Item { seconds: question.around_s() + slice_s, question, slice_s })
        .collect();
    let expected = f64::from(passes) * items.iter().map(|item| item.seconds).sum::<f64>();
    Survey { items, passes, seconds: expected, cpus, nodes, left_out }
}

/// Leaves out what takes longest, until one pass fits.
fn drop_largest(
    questions: &mut Vec<Question>,
    seconds: f64,
    left_out: &mut Vec<String>,
    shortest: impl Fn(&[Question]) -> f64,
) {
    let mut dropped: Vec<&'static str> = Vec::new();
    let mut left = shortest(questions);
    let mut order: Vec<usize> = (0..questions.len()).collect();
    order.sort_by(|&a, &b| questions[b].around_s().total_cmp(&questions[a].around_s()));
    let mut gone = BTreeSet::new();
    for at in order {
        if left <= seconds {
            break;
        }
        left -= questions[at].around_s() + SLICE_S.0;
        dropped.push(questions[at].section());
        gone.insert(at);
    }
    let mut at = 0;
    questions.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
    let sections: BTreeSet<&str> = dropped.iter().copied().collect();
    for section in sections {
        let count = dropped.iter().filter(|dropped| **dropped == section).count();
        left_out.push(format!("{count} questions of section {section}, which take longest: give more --seconds"));
    }
}

/// 1, 2, 4, … of the cpus, and all.
fn counts(cpus: &[u32]) -> Vec<Vec<u32>> {
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|&count| count < cpus.len()).collect();
    counts.extend((!cpus.is_empty()).then_some(cpus.len()));
    counts.into_iter().map(|count| cpus[..count].to_vec()).collect()
}

/// All questions but those about each pair of cpus.
fn others(topology: &Topology, usable: &[u32], nodes: &[u32]) -> Vec<Question> {
    let Some(&first) = usable.first() else { return Vec::new() };
    let last_cache = topology.l3s.iter().chain(&topology.l2s).map(|cache| cache.bytes).max().unwrap_or(0);
    let large = if last_cache == 0 { ARRAY_MAX } else { (4 * last_cache).clamp(64 << 20, ARRAY_MAX) };
    let mut questions = vec![Question::Timer, Question::Step];
    let mut bytes = 4096u64;
    while bytes <= large {
        for size in [bytes, bytes + bytes / 2] {
            questions.push(Question::Latency { cpu: first, node: None, bytes: size.min(large), huge: true });
        }
        bytes *= 2;
    }
    questions.dedup();
    questions.push(Question::Latency { cpu: first, node: None, bytes: large, huge: false });
    let heads = heads(topology);
    for &(cpu, _) in &heads {
        for &node in nodes {
            questions.push(Question::Latency { cpu, node: Some(node), bytes: large, huge: true });
        }
    }
    for stream in [Stream::Read, Stream::Write, Stream::Copy] {
        for (_, cpus) in &heads {
            for &node in nodes {
                let cpus = cpus.clone();
                questions.push(Question::Bandwidth { stream, cpus, node: Some(node), bytes: large });
            }
        }
        let counted = counts(heads.first().map_or(usable, |(_, cpus)| cpus));
        questions.extend(counted.into_iter().map(|cpus| Question::Bandwidth {
            stream,
            cpus,
            node: None,
            bytes: large,
        }));
    }
    let own = heads.first().map(|(_, cpus)| &cpus[..]).filter(|cpus| cpus.len() > 1).unwrap_or(usable);
    if own.len() > 1 {
        for pause in [0, 1, 2, 4, 8, 16, 32, 64] {
            for latency in [true, false] {
                questions.push(Question::Loaded { cpus: own.to_vec(), pause, latency, bytes: large / 2 });
            }
        }
    }
    for cpus in counts(usable) {
        for meet in [Meet::Count, Meet::Lossy, Meet::Lossless] {
            questions.push(Question::Contended { meet, cpus: cpus.clone() });
        }
        for percent in [0, 1, 10, 50, 100] {
            for meet in [Meet::Lossy, Meet::Lossless, Meet::Locked] {
                questions.push(Question::Update { meet, cpus: cpus.clone(), percent });
            }
            questions.push(Question::Lost { cpus: cpus.clone(), percent });
        }
        if cpus.len() > 1 {
            questions.extend([Question::Barrier { cpus: cpus.clone() }, Question::Token { cpus }]);
        }
    }
    for other in neighbours(topology, usable) {
        for bytes in [4, 8, 16, 32, 64, 128, 256] {
            questions.push(Question::Distance { cpus: (first, other), bytes });
        }
        questions.push(Question::Block { cpus: (first, other) });
    }
    questions
}

/// Of each node that has usable cpus the first, and all of them, in the order of the topology.
fn heads(topology: &Topology) -> Vec<(u32, Vec<u32>)> {
    let of = |node: usize| {
        let cpus = topology.cpus.iter().filter(|cpu| cpu.usable && cpu.node == Some(node));
        let cpus: Vec<u32> = cpus.map(|cpu| cpu.os).collect();
        Some((*cpus.first()?, cpus))
    };
    (0..topology.nodes.len()).filter_map(of).collect()
}

/// One cpu of each kind that the first one can share something with: a sibling, one of its L3, of its node, of another.
fn neighbours(topology: &Topology, usable: &[u32]) -> Vec<u32> {
    let mut kinds = BTreeSet::new();
    let mut found = Vec::new();
    for &other in usable.iter().skip(1) {
        if kinds.insert(topology.shared_by(usable[0], other)) {
            found.push(other);
        }
    }
    found
}

mod pairs {
    //! Which pairs of cpus hand lines to each other.

    use super::{AROUND_S, SLICE_S, Topology};
    use std::collections::BTreeMap;

    /// Seconds that one pair takes in a pass: three ways, two threads.
    const PAIR_S: f64 = 3.0 * (AROUND_S + 2e-4 + SLICE_S.0);

    /// The cpus, and pairs of them, that fit `seconds` a pass.
    pub(super) fn chosen(
        topology: &Topology,
        usable: &[u32],
        seconds: f64,
        left_out: &mut Vec<String>,
    ) -> (Vec<u32>, Vec<(u32, u32)>) {
        let most = (seconds / PAIR_S) as usize;
        let all = among(usable);
        if seconds <= 0.0 || all.len() <= most {
            return (usable.to_vec(), if seconds <= 0.0 { Vec::new() } else { all });
        }
        let first = |cpu: &&u32| topology.cpus.iter().any(|known| known.os == **cpu && known.smt == 0);
        let cores: Vec<u32> = usable.iter().filter(first).copied().collect();
        let all = among(&cores);
        if cores.len() < usable.len() {
            left_out.push(
                "second threads of cores, in tables of line transfers: there was not the time for all cpus".into(),
            );
        }
        if all.len() <= most {
            return (cores, all);
        }
        // Pairs that are alike, by the two L3s (or nodes).
        let group =
            |cpu: u32| topology.cpus.iter().find(|known| known.os == cpu).map(|known| (known.node, known.l3));
        let mut kinds: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
        for pair in all.iter().copied() {
            kinds.entry((group(pair.0), group(pair.1))).or_default().push(pair);
        }
        let share = most as f64 / all.len() as f64;
        let mut kept = Vec::new();
        for alike in kinds.values() {
            let count = ((share * alike.len() as f64) as usize).clamp(1, alike.len());
            kept.extend((0..count).map(|k| alike[k * alike.len() / count]));
        }
        // One of each kind may still be too many: a spaced part of them then.
        let count = kept.len().min(most.max(1));
        let kept: Vec<_> = (0..count).map(|k| kept[k * kept.len() / count]).collect();
        left_out.push(format!(
            "{} of {} pairs of cores, in tables of line transfers: there was not the time for all",
            all.len() - kept.len(),
            all.len()
        ));
        (cores, kept)
    }

    fn among(cpus: &[u32]) -> Vec<(u32, u32)> {
        let pair =
            |(at, &one): (usize, &u32)| cpus[at + 1..].iter().map(move |&other| (one, other)).collect::<Vec<_>>();
        cpus.iter().enumerate().flat_map(pair).collect()
    }
}
