//! Places in a machine as `hwloc-bind` and `hwloc-calc` write them: `package:0.core:0-7`, `numa:1`, `core:odd`,
//! `pack:all.core:0.pu:0`, `~core:0`. Indices are hwloc's logical ones, counted from 0 within the place before the dot.

use serde::{Serialize, Serializer};
use std::{fmt, str::FromStr};

/// What a level of a location counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A socket.
    Package,
    /// A NUMA node.
    Node,
    /// An L3 cache.
    L3,
    /// An L2 cache.
    L2,
    /// A physical core.
    Core,
    /// A cpu, which hwloc calls a PU.
    Pu,
}

/// hwloc's words for a kind; the first is the one written out.
const KINDS: [(Kind, &[&str]); 6] = [
    (Kind::Package, &["package", "pack", "socket"]),
    (Kind::Node, &["numa", "numanode", "node"]),
    (Kind::L3, &["l3", "l3cache"]),
    (Kind::L2, &["l2", "l2cache"]),
    (Kind::Core, &["core"]),
    (Kind::Pu, &["pu"]),
];

impl Kind {
    /// Its word in a location.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, names)| names[0])
    }
}

/// Which of the objects of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// `all`.
    All,
    /// `odd`: 1, 3, 5 …
    Odd,
    /// `even`: 0, 2, 4 …
    Even,
    /// `2-5`, and `2` as 2-2.
    Range(usize, usize),
    /// `2-`: from 2 to the last.
    From(usize),
    /// `6:4`: four from 6 on, going round past the last.
    Count(usize, usize),
}

/// One level of a location: `core:0-7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is counted.
    pub kind: Kind,
    /// Which of them.
    pub selection: Selection,
}

/// A location: levels from the outermost to the innermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// True for `~`: these cpus are taken away from what came before.
    pub removes: bool,
    /// At least one.
    pub steps: Vec<Step>,
}

/// What a location may look like, for messages.
pub(super) const ACCEPTED: &str = "TYPE:INDEX[.TYPE:INDEX …] with TYPE one of package, numa, l3, l2, core, pu and INDEX \
     one of 3, 0-7, 4-, 6:4 (four from 6 on), all, odd, even; ~ before one takes its cpus away";

impl FromStr for Location {
    /// Why it is none.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (removes, path) = text.strip_prefix('~').map_or((false, text), |rest| (true, rest));
        let steps = path.split('.').map(step).collect::<Result<_, _>>()?;
        Ok(Location { removes, steps })
    }
}

fn step(text: &str) -> Result<Step, String> {
    let Some((kind, selection)) = text.split_once(':') else {
        return Err(format!("`{text}` lacks the colon between a type and an index"));
    };
    let lower = kind.to_lowercase();
    let Some((kind, _)) = KINDS.iter().find(|(_, names)| names.contains(&lower.as_str())) else {
        return Err(format!("`{kind}` is no type of object"));
    };
    Ok(Step { kind: *kind, selection: selection_of(selection)? })
}

fn selection_of(text: &str) -> Result<Selection, String> {
    let number = |digits: &str| {
        let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| all).ok_or_else(|| format!("`{text}` is no index"))
    };
    match text {
        "all" => return Ok(Selection::All),
        "odd" => return Ok(Selection::Odd),
        "even" => return Ok(Selection::Even),
        _ => {}
    }
    if let Some((first, count)) = text.split_once(':') {
        let (first, count) = (number(first)?, number(count)?);
        return if count == 0 { Err(format!("`{text}` counts none")) } else { Ok(Selection::Count(first, count)) };
    }
    match text.split_once('-') {
        Some((first, "")) => Ok(Selection::From(number(first)?)),
        Some((first, last)) => match (number(first)?, number(last)?) {
            (first, last) if first > last => Err(format!("`{text}` falls")),
            (first, last) => Ok(Selection::Range(first, last)),
        },
        None => number(text).map(|only| Selection::Range(only, only)),
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selection::All => f.write_str("all"),
            Selection::Odd => f.write_str("odd"),
            Selection::Even => f.write_str("even"),
            Selection::Range(first, last) if first == last => write!(f, "{first}"),
            Selection::Range(first, last) => write!(f, "{first}-{last}"),
            Selection::From(first) => write!(f, "{first}-"),
            Selection::Count(first, count) => write!(f, "{first}:{count}"),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (level, step) in self.steps.iter().enumerate() {
            let before = if level > 0 {
                "."
            } else if self.removes {
                "~"
            } else {
                ""
            };
            write!(f, "{before}{}:{}", step.kind.name(), step.selection)?;
        }
        Ok(())
    }
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
