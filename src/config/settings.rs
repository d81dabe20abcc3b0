//! What was written: entries with their origins, from TOML files, from `--set`, from flags.

use crate::error::{Error, Result};
use serde::Deserialize;
use std::{fs::File, io::Read, ops::Range, path::Path};
use toml::{Value, de::DeTable, de::DeValue};

/// The longest config that is read, in bytes. A pinning config is a page; what is longer is another file.
const LONGEST: u64 = 1 << 20;

/// One setting as written.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) section: String,
    pub(super) key: String,
    pub(super) value: Value,
    /// `numa.toml:7`, `--set stop.target=1`, `--workers`.
    pub(super) origin: String,
    /// Counts up from file to flags: see the module above.
    pub(super) layer: u32,
}

/// Settings as written, in order; later ones override earlier ones.
///
/// ```
/// use farrow::config::{Count, Settings};
/// let mut settings = Settings::new();
/// settings.set("workers.count=8")?;
/// assert_eq!(settings.check()?.workers.count, Count::Exactly(8));
/// # Ok::<(), farrow::error::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    entries: Vec<Entry>,
    layer: u32,
}

impl Settings {
    /// No settings: [`Settings::check`] gives [`Setup::default`](super::Setup::default).
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds every setting of a TOML file. What follows is a layer of its own.
    ///
    /// # Errors
    /// [`Error::Setting`] with file and line if it cannot be read, is longer than 1 MiB, or is not TOML made of sections.
    pub fn file(&mut self, path: &Path) -> Result<()> {
        let name = path.display().to_string();
        let text = read(path)?;
        self.text(&name, &text)
    }

    /// Adds every setting of a TOML text; `name` stands for the file in messages.
    ///
    /// # Errors
    /// As [`Settings::file`].
    pub fn text(&mut self, name: &str, text: &str) -> Result<()> {
        let at = |span: Option<Range<usize>>| format!("{name}:{}", line(text, span));
        let syntax = |error: toml::de::Error| Error::Setting {
            origin: at(error.span()),
            what: error.message().to_string(),
            remedy: "a config is TOML: `[section]` lines, each followed by `key = value` lines".into(),
        };
        let table = DeTable::parse(text).map_err(syntax)?.into_inner();
        let mut found = Vec::new();
        for (section, value) in table {
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(keys) => {
                    for (key, value) in keys {
                        let start = key.span().start;
                        let value = Value::deserialize(toml::de::ValueDeserializer::from(value)).map_err(syntax)?;
                        found.push((start, section.get_ref().to_string(), key.into_inner().to_string(), value));
                    }
                }
                DeValue::Array(_) if text.get(span.clone()).is_some_and(|text| text.starts_with("[[")) => {
                    return Err(Error::Setting {
                        origin: at(Some(span)),
                        what: format!("[[{}]] repeats a section", section.get_ref()),
                        remedy: format!("write [{}], once", section.get_ref()),
                    });
                }
                other => {
                    let start = section.span().start;
                    found.push((start, String::new(), section.into_inner().to_string(), plain(other)));
                }
            }
        }
        found.sort_by_key(|(start, ..)| *start);
        self.layer += 1;
        for (start, section, key, value) in found {
            let origin = format!("{name}:{}", line(text, Some(start..start)));
            self.entries.push(Entry { section, key, value, origin, layer: self.layer });
        }
        self.layer += 1;
        Ok(())
    }

    /// Adds `section.key=value`. The value is TOML; what is no TOML value is taken as a string, so that words need no
    /// quotes.
    ///
    /// # Errors
    /// [`Error::Setting`] if there is no `=`, or not one dot before it.
    pub fn set(&mut self, text: &str) -> Result<()> {
        let origin = format!("--set {text}");
        let parts = text.split_once('=').and_then(|(path, value)| Some((path.trim().split_once('.')?, value)));
        match parts {
            Some(((section, key), value)) if !section.is_empty() && !key.is_empty() && !key.contains('.') => {
                self.put(section, key, value, origin);
                Ok(())
            }
            _ => Err(Error::Setting {
                origin,
                what: format!("`{text}` does not name one setting"),
                remedy: "write --set SECTION.KEY=VALUE, as in --set workers.count=8".into(),
            }),
        }
    }

    /// Adds one setting from `origin`, a flag such as `--workers`. The value is read as in [`Settings::set`].
    pub fn put(&mut self, section: &str, key: &str, value: impl ToString, origin: impl Into<String>) {
        self.entries.push(Entry {
            section: section.into(),
            key: key.into(),
            value: scalar(value.to_string().trim()),
            origin: origin.into(),
            layer: self.layer,
        });
    }
}

/// A value outside a file: TOML if it is, a number if Rust reads one (`.5`, `1e300`), else a string.
fn scalar(text: &str) -> Value {
    let toml = DeValue::parse(text).ok().map(|value| plain(value.into_inner()));
    match toml {
        Some(Value::Datetime(_)) => Value::String(text.into()),
        Some(value) => value,
        None => text.parse().map_or_else(|_| Value::String(text.into()), Value::Float),
    }
}

/// An owned value without spans; a number too large for TOML stays as text, which the key that gets it refuses.
fn plain(value: DeValue<'_>) -> Value {
    let text = match &value {
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        _ => String::new(),
    };
    let spanned = toml::Spanned::new(0..0, value);
    Value::deserialize(toml::de::ValueDeserializer::from(spanned)).unwrap_or(Value::String(text))
}

/// The line of a span's start, from 1.
fn line(text: &str, span: Option<Range<usize>>) -> usize {
    let start = span.map_or(0, |span| span.start).min(text.len());
    1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count()
}

fn read(path: &Path) -> Result<String> {
    let refuse = |line: Option<usize>, what: String, remedy: &str| Error::Setting {
        origin: line.map_or(path.display().to_string(), |line| format!("{}:{line}", path.display())),
        what,
        remedy: remedy.into(),
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(None, format!("cannot read it: {error}"), "name a TOML file that can be read"))?;
    if bytes.len() as u64 > LONGEST {
        return Err(refuse(
            None,
            "it is longer than 1 MiB".into(),
            "a config is a page of TOML; is this the data?",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count();
        refuse(Some(line), "it is not UTF-8 text".into(), "a config is a page of TOML; is this the data?")
    })
}
