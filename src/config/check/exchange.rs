//! `[exchange]`, and of `[injection]` what is about messages.

use super::kind;
use crate::{
    config::{Every, ExchangeKind, GraphKind, MessageFaults, Settings, entry::Bound, settings::Entry},
    error::Result,
};

const KINDS: [(&str, &[&str]); 8] = [
    ("auto", &[]),
    ("average", &["every"]),
    ("sum", &["every"]),
    ("allreduce", &["every"]),
    ("sgp", &["every", "graph"]),
    ("osgp", &["every", "graph", "overlap", "biased"]),
    ("adpsgd", &["every", "graph"]),
    ("ring", &["every", "tolerance"]),
];
const OVERLAP_MAX: u64 = 64;

pub(super) fn exchange(settings: &Settings) -> Result<Option<ExchangeKind>> {
    let kind = kind(settings, "exchange", &KINDS, "auto", &["every", "graph", "overlap", "biased", "tolerance"])?;
    if kind == "auto" {
        return Ok(None);
    }
    let every = every(settings)?;
    let graph = |default| settings.choice_or("exchange", "graph", default);
    Ok(Some(match kind {
        "average" => ExchangeKind::Average { every },
        "sum" => ExchangeKind::Sum { every },
        "allreduce" => ExchangeKind::Allreduce { every },
        "sgp" => ExchangeKind::Sgp { every, graph: graph(GraphKind::Exponential)? },
        "osgp" => ExchangeKind::Osgp {
            every,
            graph: graph(GraphKind::Exponential)?,
            overlap: match settings.get("exchange", "overlap") {
                Some(entry) => entry.whole(1, OVERLAP_MAX, "; kind \"sgp\" has none")? as usize,
                None => ExchangeKind::OVERLAP,
            },
            biased: settings.get("exchange", "biased").map_or(Ok(false), Entry::flag)?,
        },
        "adpsgd" => ExchangeKind::Adpsgd { every, graph: graph(GraphKind::Bipartite)? },
        _ => ExchangeKind::Ring {
            every,
            tolerance: settings.number_or("exchange", "tolerance", Bound::NotNegative, 0.0)?,
        },
    }))
}

fn every(settings: &Settings) -> Result<Every> {
    let Some(entry) = settings.get("exchange", "every") else { return Ok(Every::Auto) };
    let words = "\"auto\" (a twentieth of the time), \"epoch\" (once an epoch)";
    let not_auto = entry.unless("auto", |entry| {
        let updates = entry.unless("epoch", |entry| Ok(entry.whole(1, 1 << 53, words)? as usize))?;
        Ok(updates.map_or(Every::Epoch, Every::Updates))
    })?;
    Ok(not_auto.unwrap_or(Every::Auto))
}

pub(super) fn messages(settings: &Settings) -> Result<MessageFaults> {
    Ok(MessageFaults {
        message_loss: settings.number_or("injection", "message_loss", Bound::Probability, 0.0)?,
        message_delay: match settings.get("injection", "message_delay") {
            Some(entry) => entry.whole(0, MessageFaults::DELAY_MAX, "")?,
            None => 0,
        },
    })
}
