//! The bill of a run as a page of text, and its tables as CSV.

use super::{
    picture::{Bars, bars},
    short,
    table::entry,
};
use crate::{
    contention::run::{Bill, Cause, DelayBill, Expected, Finding, Told, Weight},
    data::statistics::Estimate,
    os::counters::Reading,
    placement::Label,
    trace::{Audited, HotLine, Lost, SlotOf},
};
use std::fmt::Write;

/// Hot lines on the page.
const LINES: usize = 10;
/// Columns named of one line.
const COLUMNS: usize = 4;

/// The page, with a newline at its end: 80 columns but for config lines.
pub fn bill_table(bill: &Bill) -> String {
    let mut text = entry("run", &head(bill));
    text += &entry("time", &time(bill));
    text.push('\n');
    text += &causes(bill);
    text.push('\n');
    text += &match &bill.delays {
        Told::Figure(delays) => entry("delays", &in_words(delays)),
        Told::Missing(why) => entry("delays", &format!("not measured: {why}")),
    };
    text += &conflicts(&bill.expected);
    text += &match &bill.audited {
        Told::Figure(audited) => books(audited),
        Told::Missing(why) => entry("lines", &format!("not counted: {why}")),
    };
    text += &tries(bill);
    text += &memory(bill);
    text += &looking(bill);
    text += &counted(bill);
    if let Some(consensus) = bill.consensus {
        text += &entry(
            "consensus",
            &format!("replicas were {} of the model's length apart before the last exchange", short(consensus)),
        );
    }
    if let Told::Figure(audited) = &bill.audited {
        text += &lines(audited);
    }
    text.push('\n');
    text + &verdict(bill)
}

fn label(bill: &Bill) -> &'static str {
    match bill.label {
        Label::Measured => "measured",
        Label::Virtual => "virtual nodes",
        Label::Simulated => "simulated",
    }
}

fn head(bill: &Bill) -> String {
    let merge = bill.merge.map_or("plain writes of its one worker each".into(), |merge| {
        format!("{} merge", format!("{merge:?}").to_lowercase())
    });
    let replicas = if bill.replicas == 1 { "1 replica".into() } else { format!("{} replicas", bill.replicas) };
    format!("{}, {} workers on {replicas}, {merge} ({})", bill.method, bill.workers, label(bill))
}

fn time(bill: &Bill) -> String {
    format!(
        "{} s of solving, {} epochs, {} updates; {} s of evaluating beside it",
        short(bill.seconds_solve),
        short(bill.epochs),
        bill.updates,
        short(bill.seconds_evaluate)
    )
}

/// The name of a cause.
pub(super) fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::Updates => "updates",
        Cause::SharedLines => "shared lines",
        Cause::Merge => "merge",
        Cause::SharedMemory => "shared memory",
        Cause::Exchange => "exchanges",
        Cause::Gate => "gates",
        Cause::WrongNode => "wrong node",
    }
}

fn causes(bill: &Bill) -> String {
    let mut text = format!("{:<14} {:>9} {:>8}  {:<20}\n", "cause", "seconds", "share", "quartiles of trials");
    for finding in &bill.findings {
        let number = |value: Option<f64>| value.map_or("-".into(), short);
        let share = finding.share.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share));
        let range = finding.seconds_low.zip(finding.seconds_high);
        let range = range.map_or("-".into(), |(low, high)| format!("{} to {}", short(low), short(high)));
        let seconds = number(finding.seconds);
        let _ = writeln!(text, "{:<14} {seconds:>9} {share:>8}  {range:<20}", name(finding.cause));
    }
    if bill.trials.figure().is_some() {
        let told: f64 = bill.findings.iter().filter_map(|finding| finding.seconds).sum();
        let rest = bill.seconds_solve - told;
        let share = format!("{:.1} %", 100.0 * rest / bill.seconds_solve);
        let _ = writeln!(
            text,
            "{:<14} {:>9} {share:>8}  by which the run and its trials differ",
            "the rest",
            short(rest)
        );
    }
    if let Told::Missing(why) = &bill.trials {
        let _ = writeln!(text, "updates, shared lines, merge and shared memory are not timed: {why}");
    }
    text
}

fn in_words(delays: &DelayBill) -> String {
    let all = &delays.all;
    let mut text = format!(
        "{} updates on average, 99 % up to {}, {} at most ({} of them looked at, {})",
        short(all.mean),
        all.p99,
        all.max,
        all.updates,
        all.label
    );
    if let Some(far) = delays.far.as_ref().filter(|far| far.max > 0) {
        let _ = write!(text, "; {} of them by workers of other nodes", short(far.mean));
    }
    let means = delays.workers.iter().flatten().map(|worker| worker.mean);
    let (least, most) =
        means.fold((f64::INFINITY, 0.0f64), |(least, most), mean| (least.min(mean), most.max(mean)));
    if least.is_finite() && delays.workers.len() > 1 {
        let _ = write!(text, "; by worker {} to {}", short(least), short(most));
    }
    text
}

fn conflicts(expected: &Expected) -> String {
    let share = |share: f64| format!("{} %", short(100.0 * share));
    let degree = match expected.conflict_degree {
        Estimate::Sampled { value, standard_error, .. } => format!("{} ± {}", short(value), short(standard_error)),
        estimate => short(estimate.value()),
    };
    let rho = match expected.rho {
        Estimate::Between { value, at_most } => format!("{} to {}", short(value), short(at_most)),
        estimate => short(estimate.value()),
    };
    let mut text = entry(
        "data",
        &format!(
            "Ω = {}, Δ = {}, ρ = {rho}, a row meets {degree} others on average",
            expected.omega,
            short(expected.delta)
        ),
    );
    let seen = expected
        .conflicts_seen
        .map_or("not seen to".into(), |seen| format!("{} of the updates seen to", share(seen)));
    let told = match expected.conflicts {
        Some(expected) => format!("{seen}, {} expected by the data and the delays", share(expected)),
        None => seen,
    };
    let reason = expected.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    text += &entry("conflicts", &format!("{told}{reason}"));
    text
}

fn books(audited: &Audited) -> String {
    let per = |count: u64| short(count as f64 / audited.updates.max(1) as f64);
    let of = |part: u64, whole: u64| format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64);
    let mut text = entry(
        "lines",
        &format!(
            "an update writes {} parameters and takes {} lines that another worker wrote last, {} of them for another slot of the \
             line, {} from another node; {} lines are shared (counted in {} audited updates)",
            per(audited.entries_written),
            per(audited.lines_taken),
            of(audited.lines_taken_false, audited.lines_taken),
            of(audited.lines_taken_far, audited.lines_taken),
            audited.lines_shared,
            audited.updates
        ),
    );
    text += &entry(
        "lost",
        &match audited.lost {
            Some(Lost { share_of_mass, share_of_writes, writes }) => format!(
                "{} % of the writes ({} of {}), {} % of what they were to add",
                short(100.0 * share_of_writes),
                short(writes),
                audited.entries_written,
                short(100.0 * share_of_mass)
            ),
            None => {
                "nobody can tell: replicas are drawn together while updates go on, and what a slot moves by is theirs, too".into()
            }
        },
    );
    text
}

fn tries(bill: &Bill) -> String {
    let sum = |of: fn(&crate::contention::run::WorkerBill) -> u64| bill.each.iter().map(of).sum::<u64>();
    let gate: f64 = bill.each.iter().map(|worker| worker.gate_seconds).sum::<f64>() / bill.each.len().max(1) as f64;
    entry(
        "waits",
        &format!(
            "{} s a worker at gates, {} compare-exchanges tried again, {} stripes and {} locks waited for",
            short(gate),
            sum(|worker| worker.retries),
            sum(|worker| worker.stripes),
            sum(|worker| worker.locks)
        ),
    )
}

fn memory(bill: &Bill) -> String {
    let memory = &bill.memory;
    let share = memory.remote_share.map_or("no home is one node".into(), |share| {
        format!("{:.1} % of the accesses of updates are to another node by the plan", 100.0 * share)
    });
    let pages = match memory.bytes_asked {
        0 => "the kernel does not say where pages are".into(),
        asked => format!(
            "{:.1} % of the pages looked up were on the wrong node when the run began, {:.1} % when it ended",
            100.0 * memory.bytes_misplaced_at_first as f64 / asked as f64,
            100.0 * memory.bytes_misplaced as f64 / asked as f64
        ),
    };
    entry("memory", &format!("{share}; {pages}"))
}

/// What it took to look.
fn looking(bill: &Bill) -> String {
    let took = match &bill.trials {
        Told::Figure(trials) => {
            let [median, low, high] = [trials.looking.median, trials.looking.low, trials.looking.high]
                .map(|part| format!("{:+.1} %", 100.0 * part));
            format!("{median} an update, by trials ({low} to {high})")
        }
        Told::Missing(why) => format!("not timed: {why}"),
    };
    entry(
        "looking",
        &format!("adds to the run itself {took}; what is counted of lines and conflicts is of a run beside it"),
    )
}

/// What was counted, and what was not, each reason once.
fn counted(bill: &Bill) -> String {
    let told = |reading: &&Reading| reading.value.is_some_and(|value| value != 0.0);
    let figure = |reading: &Reading| {
        let node = reading.node.map_or(String::new(), |node| format!(" of node {node}"));
        let scaled = reading.scaled.filter(|scaled| *scaled < 1.0);
        let scaled = scaled.map_or(String::new(), |scaled| format!(" (from {:.0} % of the time)", 100.0 * scaled));
        let name = reading.name.replace('_', " ");
        let unit = if reading.unit == "events" { String::new() } else { format!(" {}", reading.unit) };
        format!("{name}{node} {}{unit}{scaled}", short(reading.value.unwrap_or(f64::NAN)))
    };
    let mut text = String::new();
    for (name, readings) in [("counters", &bill.counters), ("machine", &bill.machine)] {
        let figures: Vec<String> = readings.iter().filter(told).map(figure).collect();
        if !figures.is_empty() {
            text += &entry(name, &figures.join("; "));
        }
    }
    let mut refused: Vec<(&str, Vec<&str>)> = Vec::new();
    for reading in bill.counters.iter().chain(&bill.machine) {
        let Some(reason) = reading.reason.as_deref() else { continue };
        match refused.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(reading.name),
            None => refused.push((reason, vec![reading.name])),
        }
    }
    for (reason, names) in refused {
        text += &entry("not counted", &format!("{}: {reason}", names.join(", ").replace('_', " ")));
    }
    text
}

fn lines(audited: &Audited) -> String {
    if audited.hottest.is_empty() {
        return String::new();
    }
    let what = match audited.slot_of {
        SlotOf::Column => "columns (from 0)",
        SlotOf::Row => "rows (from 0)",
        SlotOf::Factor => "numbers of U, then V",
    };
    let mut text = format!(
        "\n{:>8} {:>9} {:>8} {:>7} {:>7}  {what} by writes\n",
        "hot line", "taken", "of all", "false", "writers"
    );
    for line in audited.hottest.iter().take(LINES) {
        let _ = writeln!(
            text,
            "{:>8} {:>9} {:>6.1} % {:>5.0} % {:>7}  {}",
            line.first_slot,
            line.taken,
            100.0 * line.taken as f64 / audited.lines_taken.max(1) as f64,
            100.0 * line.taken_false as f64 / line.taken.max(1) as f64,
            line.writers,
            named(line)
        );
    }
    text
}

fn named(line: &HotLine) -> String {
    let named = line.coordinates.iter().take(COLUMNS);
    let mut text = named
        .map(|(coordinate, _)| coordinate.map_or("intercept".into(), |coordinate| coordinate.to_string()))
        .collect::<Vec<_>>()
        .join(" ");
    if line.coordinates.len() > COLUMNS {
        let _ = write!(text, " and {} more", line.coordinates.len() - COLUMNS);
    }
    text
}

fn verdict(bill: &Bill) -> String {
    if bill.clean {
        return match &bill.trials {
            Told::Figure(_) => entry("verdict", "clean: no cause takes a twentieth of the time"),
            Told::Missing(why) => {
                entry("verdict", &format!("nothing found to change, as far as it was looked at: {why}"))
            }
        };
    }
    let mut text = String::new();
    let of = |weight| bill.findings.iter().filter(move |finding| finding.weight == weight);
    for finding in of(Weight::Matters) {
        let seconds = finding.seconds.map_or(String::new(), |seconds| {
            let share = finding.share.map_or(String::new(), |share| format!(" ({:.0} %)", 100.0 * share));
            format!("{} s{share} ", short(seconds))
        });
        text += &entry("verdict", &format!("{seconds}lost to {}: {}", name(finding.cause), finding.why));
        for line in &finding.change {
            let _ = writeln!(text, "{:12}  {line}", "");
        }
        if finding.change.is_empty() {
            let _ =
                writeln!(text, "{:12}  # no line of a config that it does not have already would change this", "");
        }
    }
    for finding in of(Weight::Unsure) {
        let share = 100.0 * finding.share.unwrap_or(0.0);
        let said = format!(
            "not sure: {share:.0} % may be lost to {}, but the trials vary too much to tell: give them more --rounds, or a quiet \
             machine",
            name(finding.cause)
        );
        text += &entry("verdict", &said);
    }
    text
}

/// Delays as CSV: `owner,updates,mean,p99,max`, an owner being `all`, `far` (updates of workers of other nodes alone), a worker, or a
/// sixteenth of the slots; behind them the histogram of all as `upto N,updates,,,`.
pub fn delays_csv(delays: &DelayBill) -> String {
    let mut text = String::from("owner,updates,mean,p99,max\n");
    let mut owners = vec![("all".to_string(), Some(&delays.all)), ("far".into(), delays.far.as_ref())];
    let workers = delays.workers.iter().enumerate();
    owners.extend(workers.map(|(worker, summary)| (format!("worker {worker}"), summary.as_ref())));
    let blocks = delays.blocks.iter().enumerate();
    owners.extend(blocks.map(|(block, summary)| (format!("block {block}"), summary.as_ref())));
    for (owner, summary) in owners {
        if let Some(summary) = summary {
            let _ = writeln!(text, "{owner},{},{},{},{}", summary.updates, summary.mean, summary.p99, summary.max);
        }
    }
    delays.histogram.iter().for_each(|(upto, updates)| {
        let _ = writeln!(text, "upto {upto},{updates},,,");
    });
    text
}

/// Hot lines as CSV: `replica,first_slot,taken,taken_far,taken_false,writers,coordinates`, the last separated by blanks.
pub fn lines_csv(audited: &Audited) -> String {
    let mut text = String::from("replica,first_slot,taken,taken_far,taken_false,writers,coordinates\n");
    for line in &audited.hottest {
        let HotLine { replica, first_slot, taken, taken_far, taken_false, writers, coordinates } = line;
        let names = coordinates.iter().map(|(name, _)| name.map_or("intercept".into(), |name| name.to_string()));
        let names = names.collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "{replica},{first_slot},{taken},{taken_far},{taken_false},{writers},{names}");
    }
    text
}

/// Seconds by cause, and delays by octave, as bars: a name and an SVG each.
pub fn bill_bars(bill: &Bill) -> Vec<(&'static str, String)> {
    let of = |finding: &Finding| Some((name(finding.cause).to_string(), finding.seconds?));
    let causes = Bars {
        title: "what the time of solving went to".into(),
        unit: "s".into(),
        bars: bill.findings.iter().filter_map(of).collect(),
    };
    let mut pictures = vec![("causes.svg", bars(&causes))];
    if let Told::Figure(delays) = &bill.delays {
        let octave = |&(upto, count): &(u64, u64)| {
            let from = if upto < 2 { upto } else { upto / 2 + 1 };
            (if from == upto { upto.to_string() } else { format!("{from} to {upto}") }, count as f64)
        };
        let delays = Bars {
            title: "delays, in updates of the replica".into(),
            unit: "updates looked at".into(),
            bars: delays.histogram.iter().map(octave).collect(),
        };
        pictures.push(("delays.svg", bars(&delays)));
    }
    pictures
}
