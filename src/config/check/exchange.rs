//! `[exchange]`, and of `[injection]` what is about messages.

use super::{Section, kind};
use crate::{
    config::{Every, ExchangeKind, MessageFaults, Settings, entry::Bound, keys},
    error::Result,
};

pub(super) fn exchange(settings: &Settings) -> Result<Option<ExchangeKind>> {
    // That of all kinds is held against none.
    let of_kinds: Vec<_> = keys::of("exchange").iter().copied().filter(|key| *key != "moves").collect();
    let name = kind(settings, "exchange", ExchangeKind::NAMES, "auto", &of_kinds)?;
    ExchangeKind::read(name, every(settings)?, &Section(settings, "exchange"))
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
