//! The sections of a survey, as `--only` names them.

use serde::Serialize;
use std::{fmt, str::FromStr};

/// What belongs together in a survey and on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// The clock; asked always.
    Timer,
    /// Lines from cpu to cpu.
    Transfer,
    /// Loads by working set and by node.
    Latency,
    /// Reads, writes and copies by node and by threads.
    Bandwidth,
    /// Loads while others read.
    Loaded,
    /// One line that all use.
    Line,
    /// Cells near each other.
    Sharing,
    /// Updates by merge, workers and conflict.
    Update,
    /// Barrier, token and slot.
    Handover,
    /// DimmWitted's α.
    Alpha,
}

impl Section {
    /// All of them, in the order in which they are asked.
    pub const ALL: [Section; 10] = [
        Section::Timer,
        Section::Transfer,
        Section::Latency,
        Section::Bandwidth,
        Section::Loaded,
        Section::Line,
        Section::Sharing,
        Section::Update,
        Section::Handover,
        Section::Alpha,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Section::Timer => "timer",
            Section::Transfer => "transfer",
            Section::Latency => "latency",
            Section::Bandwidth => "bandwidth",
            Section::Loaded => "loaded",
            Section::Line => "line",
            Section::Sharing => "sharing",
            Section::Update => "update",
            Section::Handover => "handover",
            Section::Alpha => "alpha",
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The sections that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only(Vec<Section>);

impl Default for Only {
    /// All.
    fn default() -> Self {
        Only(Section::ALL.to_vec())
    }
}

impl Only {
    /// Whether a section is wanted; the timer always is.
    pub fn wants(&self, section: Section) -> bool {
        section == Section::Timer || self.0.contains(&section)
    }
}

impl FromStr for Only {
    type Err = String;

    /// A list of names with commas between, such as `transfer,latency`.
    fn from_str(text: &str) -> Result<Self, String> {
        let one = |name: &str| {
            let found = Section::ALL.into_iter().find(|section| section.name() == name.trim());
            found.ok_or_else(|| {
                let names = Section::ALL.map(Section::name).join(", ");
                format!("`{}` is no section of the price list; there are {names}", name.trim())
            })
        };
        text.split(',').map(one).collect::<Result<_, _>>().map(Only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_named_with_commas_between_and_an_unknown_one_is_told_what_there_is() {
        let only: Only = "transfer, latency".parse().unwrap();
        assert!(only.wants(Section::Transfer) && only.wants(Section::Timer) && !only.wants(Section::Alpha));
        let refused = "speed".parse::<Only>().unwrap_err();
        assert!(refused.contains("`speed`") && refused.contains("bandwidth"), "{refused}");
        assert!("".parse::<Only>().is_err());
    }
}
