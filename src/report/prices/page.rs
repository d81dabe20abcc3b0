//! The page: what sharing costs on this machine, in at most 100 columns.

use super::{UNSTEADY, figure, short, tables};
use crate::{
    machine::{Curve, FalseSharing, PriceList, Update},
    placement::Label,
    topology::Topology,
};
use std::fmt::Write;

/// Nodes whose loaded latency a page shows.
const LOADED_MAX: usize = 2;
/// Columns of the page.
const WIDTH: usize = 100;

/// The page of a price list of `topology`, with a newline at its end.
pub fn page(prices: &PriceList, topology: &Topology) -> String {
    let mut page = Page(String::new());
    page.head(prices);
    page.section(
        "Line transfer, one way, ns",
        "from the row's cpu to the column's: half a round trip (read-after-write, modified: a load of what the other wrote)",
        prices.transfer_ns.iter().map(|table| (table.of.to_string(), tables::of_cpus(table, topology))),
    );
    page.section(
        "Load latency by working set, ns",
        "dependent loads, each of another line; small pages of 4 KiB against huge ones show what the TLB costs",
        together(&prices.latency_by_working_set_ns, tables::curves),
    );
    page.section(
        "Load latency by node, ns",
        "cpus of the row's node, memory on the column's",
        prices.latency_by_node_ns.iter().map(|table| (table.of.to_string(), tables::of_nodes(table))),
    );
    page.section(
        "Bandwidth by node, GB/s",
        "all cores of the row's node, memory on the column's; a copy counts what it reads and what it writes",
        prices.bandwidth_by_node_gb_per_s.iter().map(|table| (table.of.to_string(), tables::of_nodes(table))),
    );
    page.section(
        "Bandwidth by threads, GB/s",
        "on the cpus' own node",
        together(&prices.bandwidth_by_threads_gb_per_s, tables::curves),
    );
    page.loaded(prices);
    page.section(
        "One line that all workers use, ns an operation",
        "as a worker sees it; n workers are the first n of the list above",
        together(&prices.contended_line_ns, tables::curves),
    );
    page.section(
        "False sharing, ns an addition",
        &near(&prices.false_sharing_ns),
        together(&prices.false_sharing_ns, tables::curves),
    );
    page.section(
        "Update of one coordinate, ns",
        "as a worker sees it, by merge and share of updates that go to 8 common coordinates",
        together(&prices.update_ns, tables::curves),
    );
    let losing = |curve: &&Curve<Update>| curve.medians().any(|(_, share)| share != 0.0);
    let lost: Vec<Curve<Update>> = prices.update_lost_share.iter().filter(losing).cloned().collect();
    let about = "found by known mass; merges that are not here lost none";
    page.section("Share of updates lost", about, together(&lost, tables::curves));
    page.section(
        "Hand-over, ns",
        "a barrier's crossing; a token, and a slot of 4 KiB, from one worker to the next",
        together(&prices.handover_ns, tables::curves),
    );
    page.section(
        "DimmWitted's alpha",
        "write of what a worker of every group writes / read of one's own",
        together(&prices.alpha, tables::curves),
    );
    page.foot(prices);
    page.0
}

/// All curves of a field as one table.
fn together<K>(curves: &[Curve<K>], table: fn(&[Curve<K>]) -> String) -> Option<(String, String)> {
    (!curves.is_empty()).then(|| (String::new(), table(curves)))
}

/// What false sharing tells of lines: the first distance at which an addition costs less than half of what it does next to
/// each other.
fn near(curves: &[Curve<FalseSharing>]) -> String {
    let told = curves.first().and_then(|curve| {
        let near = curve.get(8.0).ok()?.median;
        let free = curve.medians().find(|&(at, ns)| at > 8.0 && ns < 0.5 * near)?;
        Some(format!("two workers, a cell each; between cpus {} it ends {} bytes apart", curve.of, free.0))
    });
    told.unwrap_or_else(|| "two workers, a cell each, so many bytes apart".into())
}

struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        wrap(text, &mut self.0);
    }

    fn head(&mut self, prices: &PriceList) {
        let (host, machine) = (&prices.host, &prices.machine);
        let name = host.hostname.as_deref().unwrap_or("a host without a name");
        self.line(&format!(
            "Price list of {name}: {}, {} cpus of {} usable on {} cores, {} nodes, {} L3 caches",
            host.processor.as_deref().unwrap_or("a processor without a name"),
            machine.cpus.len(),
            machine.cpus_of_machine,
            machine.cores,
            machine.nodes.len(),
            machine.l3s.len(),
        ));
        let kernel = host.kernel.as_deref().unwrap_or("an unknown kernel");
        self.line(&format!(
            "{}, on {kernel}, in {} s of {} s",
            how(prices.label),
            short(prices.seconds),
            short(prices.budget_s)
        ));
        self.line(&noise(prices));
        self.line(&marks(prices));
        self.line(&disturbance(prices));
        if let Some(overhead) = prices.timer.overhead_ns {
            let step =
                prices.timer.resolution_ns.map_or("unknown".into(), |step| format!("{} ns", short(step.median)));
            let text = format!(
                "timer: a reading takes {} ns (subtracted), its least step is {step}",
                short(overhead.median)
            );
            self.line(&text);
        }
        let order: Vec<String> = prices.worker_cpus.iter().take(32).map(u32::to_string).collect();
        let more = if prices.worker_cpus.len() > 32 { " …" } else { "" };
        self.line(&format!("workers are added on cpus {}{more}", order.join(" ")));
    }

    /// Tables under a heading; nothing if there is none, since the foot says why.
    fn section(&mut self, heading: &str, about: &str, tables: impl IntoIterator<Item = (String, String)>) {
        let mut tables = tables.into_iter().peekable();
        if tables.peek().is_none() {
            return;
        }
        let _ = writeln!(self.0, "\n{heading}");
        self.line(&format!("  {about}"));
        for (name, table) in tables {
            if !name.is_empty() {
                let _ = writeln!(self.0, "\n{name}");
            }
            let _ = writeln!(self.0, "{table}");
        }
    }

    /// Latency beside bandwidth, a curve after the other.
    fn loaded(&mut self, prices: &PriceList) {
        let pairs = prices.loaded_latency_ns.iter().zip(&prices.loaded_bandwidth_gb_per_s);
        let tables = pairs.map(|(latency, bandwidth)| {
            let rows = latency.points.iter().zip(&bandwidth.points).map(|(ns, gb)| {
                vec![format!("{:.0}", ns.at), figure(gb.value.figure()), figure(ns.value.figure())]
            });
            let header = ["spins of a pause", "GB/s", "ns a load"];
            (latency.of.to_string(), crate::topology::describe::table(&header, rows))
        });
        // Nodes are alike as a rule; all are in the files.
        let mut tables: Vec<_> = tables.collect();
        let more = tables.len().saturating_sub(LOADED_MAX);
        tables.truncate(LOADED_MAX);
        if more > 0 {
            tables.push((String::new(), format!("{more} more nodes are in the CSV that --out writes")));
        }
        self.section(
            "Loaded latency",
            "one cpu loads, the others of its node read and pause after every 4 KiB",
            tables,
        );
    }

    fn foot(&mut self, prices: &PriceList) {
        for (heading, lines) in
            [("Left out to fit the time", prices.left_out.clone()), ("Not measured", tables::reasons(prices))]
        {
            if !lines.is_empty() {
                let _ = writeln!(self.0, "\n{heading}");
                lines.iter().for_each(|line| self.line(&format!("  {line}")));
            }
        }
    }
}

fn how(label: Label) -> &'static str {
    match label {
        Label::Measured => "measured",
        Label::Virtual => "virtual nodes, no traffic between them is remote",
        Label::Simulated => "simulated",
    }
}

fn noise(prices: &PriceList) -> String {
    let noise = &prices.noise;
    if noise.figures == 0 {
        return "noise: unknown, since nothing was measured twice; allow more seconds".into();
    }
    let verdict = if noise.quiet() { "a quiet machine" } else { "a noisy machine: repeat when it is quiet" };
    let moving = if noise.cpus_move() {
        format!(
            "; half of the figures about lines between cpus differ by more than {:.0} % from pass to pass, as where a host \
             moves the cpus of a virtual machine: have them pinned there, or measure on bare metal",
            100.0 * noise.spread_between_cpus
        )
    } else {
        String::new()
    };
    format!(
        "{verdict}: passes of half of the figures lie within {:.0} % of each other, of nine in ten within {:.0} %; \
         {} of {} questions were disturbed, {} of those were asked again, {} were skipped{moving}",
        100.0 * noise.spread_median,
        100.0 * noise.spread_p90,
        noise.disturbed,
        noise.asked,
        noise.retried,
        noise.skipped
    )
}

/// How many figures do not repeat within a tenth, and how to tell which.
fn marks(prices: &PriceList) -> String {
    let figures = || prices.shapes().into_iter().flat_map(|(_, tables)| tables).flat_map(|table| table.cells);
    let repeated = || figures().filter_map(|cell| cell.figure()).filter(|figure| figure.passes > 1);
    let unsteady = repeated().filter(|figure| !figure.steady()).count();
    format!(
        "{UNSTEADY} marks a figure whose passes lie more than 10 % apart: {unsteady} of {} that were measured more than once; \
         tables of more than {} columns have no marks, the CSV that --out writes has every spread and percentile",
        repeated().count(),
        tables::MARKED_MAX
    )
}

fn disturbance(prices: &PriceList) -> String {
    let told = &prices.disturbance;
    let stolen =
        told.stolen_s.map_or("stolen time unknown".into(), |stolen| format!("{stolen:.2} s of cpu stolen"));
    let frequency = match (told.frequency_mhz_min, told.frequency_mhz_max) {
        (Some(least), Some(most)) => format!("cpus at {least:.0} to {most:.0} MHz"),
        _ => format!("frequency: {}", told.frequency_unknown.as_deref().unwrap_or("unknown")),
    };
    let load = prices.host.load_average.map_or("unknown".into(), |load| format!("{load:.2}"));
    format!("meanwhile: {stolen}, {} involuntary switches, load {load}; {frequency}", told.switches.involuntary)
}

/// Lines of at most [`WIDTH`] columns, the following ones two further in than the first.
pub(super) fn wrap(text: &str, out: &mut String) {
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut line = indent.clone();
    let mut words = 0;
    for word in text.split_whitespace() {
        if words > 0 && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            line = format!("{indent}  ");
            words = 0;
        }
        if words > 0 {
            line.push(' ');
        }
        line.push_str(word);
        words += 1;
    }
    let _ = writeln!(out, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_indented() {
        let mut out = String::new();
        wrap(&format!("  {}", "word ".repeat(50)), &mut out);
        assert!(out.lines().count() == 3 && out.lines().all(|line| line.chars().count() <= WIDTH));
        assert!(out.lines().nth(1).unwrap().starts_with("    word") && out.matches("word").count() == 50);
    }
}
