//! What a machine costs: a price list, measured ([`contention::machine`](crate::contention::machine)) or written by hand, and kept in
//! a file beside the machine's topology. A simulator reads it: all prices are in two regular forms, tables by place and curves
//! by size.

use crate::{
    error::{Error, Result},
    placement::Label,
};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

/// The version of the file.
pub const VERSION: u32 = 1;

/// One figure: of all samples that were kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The median.
    pub median: f64,
    /// A tenth of the samples is below.
    pub p10: f64,
    /// A tenth of the samples is above.
    pub p90: f64,
    /// Samples.
    pub samples: usize,
    /// By how much the medians of the passes differ, (greatest − least)/median; 0 for one pass.
    pub spread: f64,
}

impl Price {
    /// Of samples, a list a pass; `None` without any.
    pub fn of(passes: &[Vec<f64>]) -> Option<Self> {
        let mut all: Vec<f64> = passes.concat();
        all.sort_by(f64::total_cmp);
        let rank = |values: &[f64], share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
        if all.is_empty() {
            return None;
        }
        let medians = passes.iter().filter(|pass| !pass.is_empty()).map(|pass| {
            let mut pass = pass.clone();
            pass.sort_by(f64::total_cmp);
            rank(&pass, 0.5)
        });
        let (least, most) =
            medians.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), m| (least.min(m), most.max(m)));
        let median = rank(&all, 0.5);
        Some(Price {
            median,
            p10: rank(&all, 0.1),
            p90: rank(&all, 0.9),
            samples: all.len(),
            spread: if median == 0.0 { 0.0 } else { (most - least) / median.abs() },
        })
    }
}

/// What places of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Cpus, by the system's numbers.
    Cpu,
    /// Nodes, by the system's numbers.
    Node,
}

/// Prices by two places, in the order of the topology.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name, such as `transfer.read`.
    pub key: String,
    /// What it says, in words.
    pub title: String,
    /// `ns`, `GB/s`.
    pub unit: String,
    /// What rows and columns are.
    pub places: (Place, Place),
    /// The row places.
    pub rows: Vec<u32>,
    /// The column places.
    pub columns: Vec<u32>,
    /// A price for each row and column; none where none was taken.
    pub prices: Vec<Vec<Option<Price>>>,
}

/// Prices by a size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Its name, such as `latency`.
    pub key: String,
    /// What it says, in words.
    pub title: String,
    /// Of the prices.
    pub unit: String,
    /// What the size is, with its unit.
    pub size: String,
    /// One line a case.
    pub lines: Vec<Line>,
}

/// One line of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The case.
    pub name: String,
    /// Sizes, ascending, with their prices.
    pub points: Vec<(f64, Price)>,
}

/// What was not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// The table or curve, with the place.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// How quiet the machine was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quiet {
    /// Times that a measurement was taken again because the host was disturbed during it.
    pub retried: u64,
    /// Measurements that were kept although it was, since there was no time to take them again.
    pub kept_disturbed: u64,
    /// Times that a thread of ours lost its cpu to another.
    pub involuntary_switches: u64,
    /// Seconds of cpu that the hypervisor gave to other guests, all cpus together.
    pub steal_s: f64,
    /// The median spread of all prices between passes.
    pub spread: f64,
}

/// A machine's price list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    /// [`VERSION`].
    pub version: u32,
    /// How the figures were got.
    pub label: Label,
    /// The machine's name on the network and its processor, as far as they are known.
    pub host: Option<String>,
    /// The processor.
    pub processor: Option<String>,
    /// When, in seconds since 1970.
    pub unix_s: f64,
    /// How long it took.
    pub seconds: f64,
    /// What reading the clock costs, in ns: subtracted where a sample is short of a thousand times as long.
    pub timer_ns: Option<Price>,
    /// The smallest step of the clock that was seen, in ns.
    pub timer_step_ns: Option<f64>,
    /// How quiet it was.
    pub quiet: Quiet,
    /// Prices by two places.
    pub tables: Vec<Table>,
    /// Prices by a size.
    pub curves: Vec<Curve>,
    /// What was not measured, and why.
    pub missing: Vec<Missing>,
    /// What the plan left out so as to fit its time.
    pub left_out: Vec<String>,
}

impl PriceList {
    /// The table of this name.
    pub fn table(&self, key: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.key == key)
    }

    /// The curve of this name.
    pub fn curve(&self, key: &str) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.key == key)
    }

    /// The value as JSON, which [`PriceList::read`] reads from a file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a price list is made of strings and finite numbers") + "\n"
    }

    /// Writes [`PriceList::to_json`] to a file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        fs::write(path, self.to_json()).map_err(|source| Error::io("write", path, source))
    }

    /// Reads what [`PriceList::save`] wrote, and checks it: a person may have edited it.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Data`] for a file that is no price list of this version.
    pub fn read(path: &Path) -> Result<Self> {
        let bad = |what: String| {
            Error::data(path, None, what, "Write it anew with farrow contention machine --save FILE.")
        };
        let text = fs::read(path).map_err(|source| Error::io("read", path, source))?;
        let list: PriceList = serde_json::from_slice(&text)
            .map_err(|error| bad(format!("it is no price list saved by farrow: {error}")))?;
        list.check().map_err(bad)?;
        Ok(list)
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.version != VERSION {
            return Err(format!("it has version {}, and this program reads version {VERSION}", self.version));
        }
        for table in &self.tables {
            let ragged = table.prices.iter().any(|row| row.len() != table.columns.len());
            if ragged || table.prices.len() != table.rows.len() {
                return Err(format!("table {} is not {} by {}", table.key, table.rows.len(), table.columns.len()));
            }
        }
        for line in self.curves.iter().flat_map(|curve| &curve.lines) {
            if !line.points.is_sorted_by(|a, b| a.0 < b.0) {
                return Err(format!("the sizes of line {} do not ascend", line.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_of_all_passes_and_says_how_they_differ() {
        let price = Price::of(&[vec![1.0, 2.0, 3.0], vec![], vec![2.0, 4.0, 6.0]]).expect("samples");
        assert_eq!((price.median, price.samples), (3.0, 6));
        assert_eq!(price.spread, (4.0 - 2.0) / 3.0);
        assert_eq!(Price::of(&[vec![]]), None);
    }

    #[test]
    fn a_file_that_was_edited_wrongly_says_what_is_wrong() {
        let table = Table {
            key: "transfer.read".into(),
            title: String::new(),
            unit: "ns".into(),
            places: (Place::Cpu, Place::Cpu),
            rows: vec![0, 1],
            columns: vec![0, 1],
            prices: vec![vec![None, None]],
        };
        let list = PriceList {
            version: VERSION,
            label: Label::Measured,
            host: None,
            processor: None,
            unix_s: 0.0,
            seconds: 1.0,
            timer_ns: Price::of(&[vec![20.0]]),
            timer_step_ns: Some(1.0),
            quiet: Quiet::default(),
            tables: Vec::new(),
            curves: Vec::new(),
            missing: Vec::new(),
            left_out: Vec::new(),
        };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("prices.json");
        list.save(&path).expect("saved");
        assert_eq!(PriceList::read(&path).expect("read"), list);
        let told = |list: PriceList| {
            list.save(&path).expect("saved");
            PriceList::read(&path).expect_err("refused").to_string()
        };
        assert!(told(PriceList { tables: vec![table], ..list.clone() }).contains("not 2 by 2"));
        assert!(told(PriceList { version: 9, ..list }).contains("version 9"));
        fs::write(&path, "{").expect("written");
        assert!(PriceList::read(&path).expect_err("refused").to_string().contains("contention machine --save"));
    }
}
