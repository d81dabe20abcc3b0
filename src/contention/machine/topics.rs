//! What there is to ask of a machine, from few questions to many.

use super::{
    Question, Section, Sizes, View, Worker, latency,
    places::Pairs,
    share::{Draft, Tier, Topic},
    sizes::{LAPS_S, LAY_S},
};
use crate::machine::{
    Contended, DramLatency, FalseSharing, Handover, Loaded, NodeStream, Operation, PageSize, Relation, State,
    Stream, Threads, Transfer, Update, UpdateMerge, WorkingSet,
};

/// Seconds of one pass, at least and at most, of the small probes and of those that go through memory.
const CLOCK_S: (f64, f64) = (1e-3, 10e-3);
const PAIR_S: (f64, f64) = (0.4e-3, 30e-3);
const SHORT_S: (f64, f64) = (4e-3, 100e-3);
const CHASE_S: (f64, f64) = (2e-3, 100e-3);
const MEMORY_S: (f64, f64) = (15e-3, 400e-3);

/// Distances of two cells, in bytes.
const DISTANCES: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];
/// Shares of updates that meet, in per cent.
const CONFLICTS: [u32; 5] = [0, 1, 10, 50, 100];
/// Spins of a pause after 4 KiB, a spin being 10 to 50 ns; 4096 leave the memory nearly idle.
const SPINS: [u32; 10] = [0, 1, 2, 4, 8, 16, 32, 64, 256, 4096];

fn numbers(workers: &[Worker]) -> Vec<u32> {
    workers.iter().map(|cpu| cpu.os).collect()
}

/// A topic that cannot be had on this machine: its field and why.
pub(super) type Barred = (&'static str, String);

/// All topics of a section; what the machine bars goes to `barred`.
pub(super) fn of<'a>(
    section: Section,
    view: &'a View<'a>,
    sizes: Option<Sizes>,
    barred: &mut Vec<Barred>,
) -> Vec<Topic<'a>> {
    let mut bar = |fields: &[&'static str], reason: &str| -> Vec<Topic<'a>> {
        barred.extend(fields.iter().map(|&field| (field, reason.to_string())));
        Vec::new()
    };
    let alone = "it needs two cpus, and one is usable";
    let small = "the seconds allowed, or the memory there is, do not do for arrays larger than the caches";
    let no_node = "the topology states no node with memory";
    let (two, nodes) = (view.cpus.len() > 1, !view.memory_nodes().is_empty() && !view.cpu_nodes().is_empty());
    match section {
        Section::Timer => vec![clock(view)],
        Section::Transfer if two => transfer(view),
        Section::Transfer => bar(&["transfer_ns"], alone),
        Section::Latency => {
            let Some(sizes) = sizes else {
                return bar(&["latency_by_working_set_ns", "latency_by_node_ns"], small);
            };
            let mut topics = vec![working_set(view, sizes)];
            topics.extend(if nodes {
                vec![node_latency(view, sizes)]
            } else {
                bar(&["latency_by_node_ns"], no_node)
            });
            topics
        }
        Section::Bandwidth => match sizes {
            Some(sizes) if nodes => vec![node_stream(view, sizes), threads(view, sizes)],
            found => {
                let reason = if found.is_some() { no_node } else { small };
                bar(&["bandwidth_by_node_gb_per_s", "bandwidth_by_threads_gb_per_s"], reason)
            }
        },
        Section::Loaded => {
            let fields = ["loaded_latency_ns", "loaded_bandwidth_gb_per_s"];
            let busy = view.cpu_nodes().into_iter().any(|node| view.cores_of(node).len() > 1);
            match sizes {
                None => bar(&fields, small),
                Some(_) if !nodes => bar(&fields, no_node),
                Some(_) if !busy => bar(&fields, "it needs two cores of a node, one to load and one to read"),
                Some(sizes) => vec![loaded(view, sizes)],
            }
        }
        Section::Line => vec![contended(view)],
        Section::Sharing if two => vec![sharing(view)],
        Section::Sharing => bar(&["false_sharing_ns"], alone),
        Section::Update => vec![update(view)],
        Section::Handover if two => vec![handover(view)],
        Section::Handover => bar(&["handover_ns"], alone),
        Section::Alpha if view.cores().len() > 1 => vec![alpha(view)],
        Section::Alpha => {
            bar(&["alpha_write_ns", "alpha_read_ns", "alpha"], "it needs two cores, and one is usable")
        }
    }
}

fn clock<'a>(view: &View<'_>) -> Topic<'a> {
    let cpus = numbers(&view.cpus[..1.min(view.cpus.len())]);
    let tiers = vec![Tier::of("the clock", vec![Draft::new(Question::Timer, cpus, CLOCK_S)])];
    Topic { field: "timer", name: "timer".into(), weight: 0.5, tiers }
}

/// A topic for each operation and state: for the exchange of a modified line, the finest set of pairs that fits.
fn transfer<'a>(view: &'a View<'a>) -> Vec<Topic<'a>> {
    let sets = [
        (Pairs::Relations, "one pair for each relation and distance"),
        (Pairs::Groups, "one pair in each L3 (or node), and one for each two of them"),
        (
            Pairs::Within,
            "all pairs of cores within an L3 (or node), four across each two of them, a pair of siblings in each",
        ),
        (Pairs::Cores, "one cpu a core, and a pair of siblings in each L3 (or node)"),
        (Pairs::All, "all pairs"),
    ];
    let topic = |of: Transfer| {
        let main = of == Transfer { operation: Operation::CompareExchange, state: State::Modified };
        let draft = move |pair: [u32; 2]| Draft::new(Question::Transfer(of), pair.to_vec(), PAIR_S);
        let tier = |&(set, covers): &(Pairs, &str)| {
            let make = move || view.pairs(set).iter().map(|[a, b]| draft([a.os, b.os])).collect();
            Tier::alike(covers, view.count(set), &draft([0, 0]), make)
        };
        Topic {
            field: "transfer_ns",
            name: format!("transfer_ns, {}, {}", of.operation, of.state),
            weight: if main { 16.0 } else { 3.0 },
            tiers: sets.iter().map(tier).collect(),
        }
    };
    let states = |&operation: &Operation| State::ALL.iter().map(move |&state| Transfer { operation, state });
    Operation::ALL.iter().flat_map(states).map(topic).collect()
}

fn working_set<'a>(view: &View<'_>, sizes: Sizes) -> Topic<'a> {
    let cpu = view.cpus[0].os;
    let draft = |pages: PageSize, bytes: u64| {
        let mut draft = Draft::new(Question::WorkingSet(WorkingSet { cpu, pages }, bytes), vec![cpu], CHASE_S);
        let laps_s = if latency::fits(bytes, sizes.cache) { LAPS_S } else { 0.0 };
        draft.setup_s += bytes as f64 * (LAY_S + laps_s);
        draft
    };
    let both = |sets: Vec<u64>| -> Vec<Draft> {
        sets.iter().flat_map(|&bytes| [draft(PageSize::Huge, bytes), draft(PageSize::Small, bytes)]).collect()
    };
    let few = vec![16 << 10, (sizes.cache / 2).clamp(128 << 10, sizes.set / 4), sizes.set];
    let tiers = vec![
        Tier::of("three working sets", both(few)),
        Tier::of("one working set an octave", both(sizes.sets(1))),
        Tier::of("two working sets an octave", both(sizes.sets(2))),
        Tier::of("three working sets an octave", both(sizes.sets(3))),
    ];
    Topic { field: "latency_by_working_set_ns", name: "latency_by_working_set_ns".into(), weight: 12.0, tiers }
}

/// Pairs of a node of cpus and one of memory: each cpus' own, then one for each distance, or all. Indices.
fn node_pairs(view: &View<'_>, all: bool) -> Vec<(usize, usize)> {
    let (cpus, memory) = (view.cpu_nodes(), view.memory_nodes());
    let mut pairs: Vec<(usize, usize)> =
        cpus.iter().filter(|node| memory.contains(node)).map(|&node| (node, node)).collect();
    let mut seen = Vec::new();
    for &node in &cpus {
        for &other in &memory {
            let distance =
                view.topology.distance.as_ref().map_or(u64::from(node != other), |rows| rows[node][other]);
            if !pairs.contains(&(node, other)) && (all || !seen.contains(&distance)) {
                seen.push(distance);
                pairs.push((node, other));
            }
        }
    }
    pairs
}

fn node_latency<'a>(view: &View<'_>, sizes: Sizes) -> Topic<'a> {
    let number = |node: usize| view.topology.nodes[node].os;
    let drafts = |all: bool, kinds: &[PageSize]| -> Vec<Draft> {
        let one = |(node, memory): (usize, usize), pages: PageSize| {
            let of = DramLatency { bytes: sizes.chase, pages };
            let question = Question::NodeLatency { of, node: number(node), memory: number(memory) };
            Draft::new(question, numbers(&view.cores_of(node)[..1]), MEMORY_S)
        };
        let pairs = node_pairs(view, all);
        pairs.iter().flat_map(|&pair| kinds.iter().map(move |&pages| one(pair, pages))).collect()
    };
    let tiers = vec![
        Tier::of("each node's own memory, and one pair for each distance", drafts(false, &[PageSize::Huge])),
        Tier::of("all pairs of nodes", drafts(true, &[PageSize::Huge])),
    ];
    Topic { field: "latency_by_node_ns", name: "latency_by_node_ns".into(), weight: 8.0, tiers }
}

fn node_stream<'a>(view: &View<'_>, sizes: Sizes) -> Topic<'a> {
    let number = |node: usize| view.topology.nodes[node].os;
    let drafts = |all: bool, streams: &[Stream]| -> Vec<Draft> {
        let one = |stream: Stream, (node, memory): (usize, usize)| {
            let of = NodeStream { stream, bytes: sizes.stream };
            let question = Question::NodeStream { of, node: number(node), memory: number(memory) };
            Draft::new(question, numbers(&view.cores_of(node)), MEMORY_S)
        };
        let pairs = node_pairs(view, all);
        streams.iter().flat_map(|&stream| pairs.iter().map(move |&pair| one(stream, pair))).collect()
    };
    let tiers = vec![
        Tier::of("each node's own memory and one pair for each distance, read", drafts(false, &[Stream::Read])),
        Tier::of("each node's own memory and one pair for each distance", drafts(false, Stream::ALL)),
        Tier::of("all pairs of nodes", drafts(true, Stream::ALL)),
    ];
    Topic { field: "bandwidth_by_node_gb_per_s", name: "bandwidth_by_node_gb_per_s".into(), weight: 10.0, tiers }
}

fn threads<'a>(view: &View<'_>, sizes: Sizes) -> Topic<'a> {
    let nodes: Vec<usize> = view.cpu_nodes().into_iter().filter(|&node| view.topology.has_memory(node)).collect();
    let drafts = |nodes: &[usize], streams: &[Stream], steps: u32| -> Vec<Draft> {
        let mut drafts = Vec::new();
        for &node in nodes {
            let (cores, os) = (view.cores_of(node), view.topology.nodes[node].os);
            for count in up_to(cores.len(), steps) {
                let one = |&stream: &Stream| {
                    let question = Question::Threads(Threads { stream, node: os }, sizes.stream);
                    Draft::new(question, numbers(&cores[..count]), MEMORY_S)
                };
                drafts.extend(streams.iter().map(one));
            }
        }
        drafts
    };
    let first = &nodes[..1.min(nodes.len())];
    let tiers = vec![
        Tier::of("the first node, reads of one and of all cores", drafts(first, &[Stream::Read], 0)),
        Tier::of("the first node", drafts(first, Stream::ALL, 1)),
        Tier::of("all nodes", drafts(&nodes, Stream::ALL, 1)),
    ];
    let field = "bandwidth_by_threads_gb_per_s";
    Topic { field, name: field.into(), weight: 8.0, tiers }
}

/// 1 and `most`, with powers of two between if `steps` is 1.
fn up_to(most: usize, steps: u32) -> Vec<usize> {
    let powers = (0..usize::BITS).map(|shift| 1usize << shift).take_while(|&count| count < most);
    let mut counts: Vec<usize> = if steps == 0 { vec![1] } else { powers.collect() };
    counts.push(most);
    counts.dedup();
    counts
}

fn loaded<'a>(view: &View<'_>, sizes: Sizes) -> Topic<'a> {
    let mut nodes = view.cpu_nodes();
    nodes.retain(|&node| view.cores_of(node).len() > 1 && view.topology.has_memory(node));
    let drafts = |nodes: &[usize], spins: &[u32]| -> Vec<Draft> {
        let one = |node: usize, spins: u32| {
            let (cores, os) = (view.cores_of(node), view.topology.nodes[node].os);
            let of = Loaded { node: os, memory: os, streams: cores.len() as u32 - 1 };
            let question = Question::Loaded { of, spins, bytes: (sizes.chase, sizes.stream) };
            Draft::new(question, numbers(&cores), MEMORY_S)
        };
        nodes.iter().flat_map(|&node| spins.iter().map(move |&spins| one(node, spins))).collect()
    };
    let first = &nodes[..1.min(nodes.len())];
    let tiers = vec![
        Tier::of("the first node, three pauses", drafts(first, &[0, 8, 4096])),
        Tier::of("the first node", drafts(first, &SPINS)),
        Tier::of("all nodes", drafts(&nodes, &SPINS)),
    ];
    Topic { field: "loaded_latency_ns", name: "loaded_latency_ns".into(), weight: 8.0, tiers }
}

/// Tiers of a probe that is asked at some counts of workers: few counts, then powers of two, then more.
fn by_workers<'a>(view: &View<'_>, least: usize, questions: &[Question], few: &[Question]) -> Vec<Tier<'a>> {
    let workers = view.workers();
    let drafts = |questions: &[Question], steps: u32| -> Vec<Draft> {
        let counts = view.counts(steps).into_iter().filter(|&count| count >= least);
        let at = |count: usize| {
            let cpus = numbers(&workers[..count]);
            questions.iter().map(move |&question| Draft::new(question, cpus.clone(), SHORT_S)).collect::<Vec<_>>()
        };
        counts.flat_map(at).collect()
    };
    vec![
        Tier::of(
            "the fewest workers, those of an L3, of a node and of the machine, in the main cases",
            drafts(few, 0),
        ),
        Tier::of("the fewest workers, those of an L3, of a node and of the machine", drafts(questions, 0)),
        Tier::of("numbers of workers by powers of two", drafts(questions, 1)),
        Tier::of("numbers of workers twice an octave", drafts(questions, 2)),
    ]
}

fn contended<'a>(view: &View<'_>) -> Topic<'a> {
    let questions: Vec<Question> = Contended::ALL.iter().map(|&of| Question::Contended(of)).collect();
    let tiers = by_workers(view, 1, &questions, &questions);
    Topic { field: "contended_line_ns", name: "contended_line_ns".into(), weight: 7.0, tiers }
}

fn sharing<'a>(view: &View<'_>) -> Topic<'a> {
    let drafts = |pairs: &[[Worker; 2]], distances: &[u32]| -> Vec<Draft> {
        let one = |&[a, b]: &[Worker; 2], bytes: u32| {
            let of = FalseSharing { relation: view.relation(a, b), cpus: [a.os, b.os] };
            Draft::new(Question::FalseSharing(of, bytes), vec![a.os, b.os], SHORT_S)
        };
        pairs.iter().flat_map(|pair| distances.iter().map(move |&bytes| one(pair, bytes))).collect()
    };
    let mut pairs = view.pairs(Pairs::Relations);
    // Those of two cores tell more than siblings do.
    pairs.sort_by_key(|[a, b]| view.relation(*a, *b) == Relation::Smt);
    let tiers = vec![
        Tier::of("one pair of cpus, three distances", drafts(&pairs[..1.min(pairs.len())], &[8, 64, 128])),
        Tier::of("one pair of cpus", drafts(&pairs[..1.min(pairs.len())], &DISTANCES)),
        Tier::of("a pair of cpus for each relation and distance", drafts(&pairs, &DISTANCES)),
    ];
    Topic { field: "false_sharing_ns", name: "false_sharing_ns".into(), weight: 4.0, tiers }
}

fn update<'a>(view: &View<'_>) -> Topic<'a> {
    let questions = |conflicts: &[u32]| -> Vec<Question> {
        let merges = UpdateMerge::ALL.iter();
        let one =
            |&merge: &UpdateMerge, conflict_percent: u32| Question::Update(Update { merge, conflict_percent });
        merges.flat_map(|merge| conflicts.iter().map(move |&percent| one(merge, percent))).collect()
    };
    let tiers = by_workers(view, 1, &questions(&CONFLICTS), &questions(&[0, 100]));
    Topic { field: "update_ns", name: "update_ns".into(), weight: 10.0, tiers }
}

fn handover<'a>(view: &View<'_>) -> Topic<'a> {
    let questions: Vec<Question> = Handover::ALL.iter().map(|&of| Question::Handover(of)).collect();
    let tiers = by_workers(view, 2, &questions, &questions);
    Topic { field: "handover_ns", name: "handover_ns".into(), weight: 6.0, tiers }
}

/// Workers, one a node, of 2 … all nodes; of one node, its first two cores.
fn alpha<'a>(view: &View<'_>) -> Topic<'a> {
    let nodes = view.cpu_nodes();
    let firsts: Vec<Worker> = nodes.iter().filter_map(|&node| view.cores_of(node).first().copied()).collect();
    let cores = view.cores();
    let draft = |of: Relation, workers: &[Worker]| Draft::new(Question::Alpha(of), numbers(workers), SHORT_S);
    let drafts = |counts: &[usize]| -> Vec<Draft> {
        let pair = [cores[0], cores[1]];
        // Of one node; two of different nodes stand among those across.
        let within = (pair[0].node == pair[1].node).then(|| draft(view.relation(pair[0], pair[1]), &pair));
        let across = counts.iter().filter(|&&count| (2..=firsts.len()).contains(&count));
        // Nodes may share an L3: they are nodes all the same.
        within.into_iter().chain(across.map(|&count| draft(Relation::Machine, &firsts[..count]))).collect()
    };
    let few = if firsts.len() > 2 { vec![2, firsts.len()] } else { vec![2] };
    let all: Vec<usize> = (2..=firsts.len()).collect();
    let tiers = vec![Tier::of("two nodes and all", drafts(&few)), Tier::of("all numbers of nodes", drafts(&all))];
    Topic { field: "alpha", name: "alpha".into(), weight: 4.0, tiers }
}
