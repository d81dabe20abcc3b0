//! The sources of a topology, each checked: this host, an XML file, a saved file, a synthetic string.

use super::{Origin, Topology, assemble::assemble};
use crate::{
    error::{Error, Result},
    os::{
        affinity, cgroup, host,
        hwloc::{self, Source},
    },
};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// No machine's file comes near it; a device file would never end.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The most cpus that Linux knows; a description of many more takes hwloc minutes and gigabytes.
const SYNTHETIC_CPUS_MAX: u64 = 8192;

const SYNTHETIC_EXAMPLE: &str = "such as \"pack:2 [numa] l3:2 core:4 pu:2\"";

impl Topology {
    /// This host. A cpu is usable if the cpuset allows it and it is in this process's affinity mask at start.
    ///
    /// # Errors
    /// [`Error::Topology`] if hwloc cannot read it, or if one of hwloc's environment variables puts another machine
    /// in its place.
    pub fn of_host() -> Result<Topology> {
        let bad = |what: String, remedy: &str| error("this host", what, remedy);
        let objects =
            hwloc::read(Source::Host).map_err(|what| bad(what, "name a saved one with --topology FILE"))?;
        if !objects.this_system {
            let what = "hwloc shows another machine instead: HWLOC_XMLFILE, HWLOC_SYNTHETIC or HWLOC_FSROOT is set";
            return Err(bad(what.into(), "unset it, and name the other machine with --topology"));
        }
        let affinity = affinity::at_start().map_err(|error| {
            bad(format!("the kernel does not tell its affinity mask: {error}"), "run it elsewhere")
        })?;
        let mut topology = assemble(Origin::Host, objects).map_err(|what| bad(what, "report this machine"))?;
        for cpu in &mut topology.cpus {
            cpu.usable &= affinity.binary_search(&cpu.os).is_ok();
        }
        topology.quota_cpus = cgroup::quota_cpus();
        topology.balancing = host::balancing();
        Ok(topology)
    }

    /// The machine of an hwloc 2.x XML file (`lstopo --of xml`). What its cpuset disallowed is not usable; all the
    /// rest is, whatever this process may run on.
    ///
    /// # Errors
    /// [`Error::Topology`] if the file cannot be read or is no such XML.
    pub fn from_xml(path: impl AsRef<Path>) -> Result<Topology> {
        let path = path.as_ref();
        xml(path, &read(path)?)
    }

    /// The machine of an hwloc synthetic description, such as `pack:2 [numa] core:4 pu:2`. Every cpu is usable.
    ///
    /// # Errors
    /// [`Error::Topology`] if hwloc cannot parse it, or if it describes more than 8192 cpus.
    pub fn from_synthetic(text: &str) -> Result<Topology> {
        let remedy = format!("describe it in hwloc's words, {SYNTHETIC_EXAMPLE}");
        synthetic(text).map_err(|what| error(&format!("`{text}`"), what, &remedy))
    }

    /// What `--topology` takes: the path of a file that exists (hwloc XML, or what [`Topology::save`] wrote), else a
    /// synthetic description.
    ///
    /// # Errors
    /// [`Error::Topology`] if it is neither, or a bad one.
    pub fn named(text: &str) -> Result<Topology> {
        let path = Path::new(text);
        if path.exists() {
            let contents = read(path)?;
            return if contents.trim_ascii_start().starts_with(b"{") {
                super::saved::parse(path, &contents)
            } else {
                xml(path, &contents)
            };
        }
        let remedy = format!("name a file that exists, or describe a machine {SYNTHETIC_EXAMPLE}");
        synthetic(text).map_err(|what| error(&format!("`{text}`"), format!("no such file, and {what}"), &remedy))
    }
}

pub(super) fn error(origin: &str, what: String, remedy: &str) -> Error {
    Error::Topology { origin: origin.into(), what, remedy: remedy.into() }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let bad =
        |what| error(&path.display().to_string(), what, "name a file written by --save or by lstopo --of xml");
    let mut contents = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut contents));
    match read {
        Err(error) => Err(bad(format!("it cannot be read: {error}"))),
        Ok(_) if contents.len() as u64 > FILE_BYTES_MAX => {
            Err(bad(format!("it has more than {} MiB and cannot be a topology", FILE_BYTES_MAX >> 20)))
        }
        Ok(_) => Ok(contents),
    }
}

fn xml(path: &Path, contents: &[u8]) -> Result<Topology> {
    let remedy = "write one with farrow topology --save FILE, or with lstopo --of xml of hwloc 2.x \
                  (hwloc 3 needs --export-xml-flags v2)";
    let bad = |what| error(&path.display().to_string(), what, remedy);
    if let Some(fault) = super::xml::fault(contents) {
        return Err(bad(fault));
    }
    let objects = hwloc::read(Source::Xml(contents)).map_err(bad)?;
    assemble(Origin::Xml(PathBuf::from(path)), objects).map_err(bad)
}

fn synthetic(text: &str) -> std::result::Result<Topology, String> {
    if text.trim().is_empty() {
        return Err("a description of nothing is no machine".into());
    }
    match described_cpus(text) {
        Some(cpus) if cpus <= SYNTHETIC_CPUS_MAX => {}
        _ => return Err(format!("it describes more than {SYNTHETIC_CPUS_MAX} cpus, the most that is taken")),
    }
    let objects = hwloc::read(Source::Synthetic(text))?;
    assemble(Origin::Synthetic(text.into()), objects)
}

/// The product of the numbers of children, `None` if it overflows. Parts in parentheses and brackets describe
/// attributes and attached memory; in the rest a number stands alone or after a colon.
fn described_cpus(text: &str) -> Option<u64> {
    let mut depth = 0usize;
    let bare: String = text
        .chars()
        .map(|c| {
            depth = match c {
                '(' | '[' => depth + 1,
                ')' | ']' => depth.saturating_sub(1),
                _ => depth,
            };
            if depth > 0 || c == ')' || c == ']' { ' ' } else { c }
        })
        .collect();
    let mut cpus = 1u64;
    for part in bare.split_whitespace() {
        let number = part.rsplit(':').next()?;
        if number.bytes().all(|byte| byte.is_ascii_digit()) {
            cpus = cpus.checked_mul(number.parse().ok()?)?;
        }
    }
    Some(cpus)
}
