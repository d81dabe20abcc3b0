//! The devices there are: what a person chooses from.

use crate::error::{Error, Result, Trouble};
use serde::Serialize;

/// A device as its driver presents it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// The interface it is reached through: `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// Whether a cpu computes what is asked of it: right, and slower than the cpus' own code.
    pub software: bool,
    /// Its driver.
    pub driver: String,
    /// Its address on the PCI bus, `0000:3b:00.0`, where the driver tells it.
    pub pci: Option<String>,
    /// What it can take at once.
    pub limits: Limits,
    /// What it can do.
    pub features: Features,
}

impl Adapter {
    /// Its name, and its address where that is known: gpus of one kind are told apart by it.
    fn called(&self) -> String {
        let at = self.pci.as_ref().map_or(String::new(), |pci| format!(" ({pci})"));
        format!("`{}`{at}", self.name)
    }
}

/// What a device can take at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Bytes that a kernel sees as one array; larger data are cut.
    pub binding_bytes: u64,
    /// Bytes of a buffer.
    pub buffer_bytes: u64,
    /// Arrays that a kernel sees.
    pub bindings: u32,
    /// Invocations of a workgroup.
    pub invocations: u32,
    /// Bytes of memory of a workgroup.
    pub workgroup_bytes: u32,
    /// Workgroups in a row.
    pub workgroups: u32,
}

/// What a device can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Features {
    /// Arithmetic in half floats. Values of two bytes need it not: they are widened when they are read.
    pub f16: bool,
    /// Invocations of a subgroup, least and most, where it has them.
    pub subgroup: Option<[u32; 2]>,
    /// Atomic addition of floats.
    pub float_atomics: bool,
    /// Clocks of its own.
    pub timestamps: bool,
}

/// All devices.
///
/// # Errors
/// None there, or a program built without them ([`Trouble::Absent`]).
pub fn list() -> Result<Vec<Adapter>> {
    #[cfg(not(feature = "gpu"))]
    return Err(without());
    #[cfg(feature = "gpu")]
    super::device::list()
}

/// What a program says that was built without devices.
#[cfg(not(feature = "gpu"))]
pub(super) fn without() -> Error {
    Error::device(
        Trouble::Absent,
        "this farrow was built without gpu kernels",
        "build it with them: cargo build --release --features gpu (or cargo install --path . --features gpu)",
    )
}

/// The index of the one adapter that has `name` in its name or its address on the PCI bus, in capitals or not; without a name the
/// first that is not software, else the first.
///
/// # Errors
/// None, or several, of that name, with the names there are.
pub fn choose(adapters: &[Adapter], name: Option<&str>) -> Result<usize> {
    let Some(name) = name else {
        let real = adapters.iter().position(|adapter| !adapter.software);
        return real.or((!adapters.is_empty()).then_some(0)).ok_or_else(none);
    };
    let lower = name.to_lowercase();
    let matches = |pick: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let picked = |adapter: &Adapter| {
            pick(&adapter.name.to_lowercase()) || adapter.pci.as_ref().is_some_and(|pci| pick(&pci.to_lowercase()))
        };
        (0..adapters.len()).filter(|&k| picked(&adapters[k])).collect()
    };
    let exact = matches(&|name| name == lower);
    let found = if exact.len() == 1 { exact } else { matches(&|name| name.contains(&lower)) };
    let names = |of: &[usize]| of.iter().map(|&k| adapters[k].called()).collect::<Vec<_>>().join(", ");
    match found[..] {
        [one] => Ok(one),
        [] if adapters.is_empty() => Err(none()),
        [] => Err(Error::device(
            Trouble::Absent,
            format!("no adapter has `{name}` in its name or PCI address"),
            format!("name one of {}", names(&(0..adapters.len()).collect::<Vec<_>>())),
        )),
        _ => Err(Error::device(
            Trouble::Absent,
            format!("`{name}` is in the names of {} adapters: {}", found.len(), names(&found)),
            "write more of the name of the one that is meant, or its PCI address",
        )),
    }
}

/// That there is no adapter at all.
fn none() -> Error {
    Error::device(
        Trouble::Absent,
        "no adapter was found: neither a gpu nor a software device",
        "install the Vulkan driver of the gpu and its loader (Debian: libvulkan1, with nvidia-driver or mesa-vulkan-drivers; \
         mesa-vulkan-drivers has a software device too)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapters(names: &[(&str, bool)]) -> Vec<Adapter> {
        let one = |&(name, software): &(&str, bool)| Adapter {
            name: name.into(),
            backend: "vulkan".into(),
            kind: if software { "software" } else { "discrete" },
            software,
            driver: String::new(),
            pci: None,
            limits: Limits::default(),
            features: Features::default(),
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn an_adapter_is_chosen_by_a_part_of_its_name() {
        let all = adapters(&[("llvmpipe (LLVM 15)", true), ("NVIDIA H200", false), ("NVIDIA H200 NVL", false)]);
        assert_eq!(choose(&all, Some("LLVM")).expect("one"), 0);
        assert_eq!(choose(&all, Some("nvl")).expect("one"), 2);
        assert_eq!(choose(&all, Some("nvidia h200")).expect("the whole name of one"), 1);
        let several = choose(&all, Some("nvidia")).expect_err("two").to_string();
        assert!(several.contains("`NVIDIA H200`, `NVIDIA H200 NVL`"), "{several}");
        let no_such = choose(&all, Some("radeon")).expect_err("none").to_string();
        assert!(no_such.contains("llvmpipe (LLVM 15)") && no_such.contains("radeon"), "{no_such}");
    }

    #[test]
    fn gpus_of_one_name_are_told_apart_by_their_addresses() {
        let mut all = adapters(&[("NVIDIA H200", false), ("NVIDIA H200", false)]);
        (all[0].pci, all[1].pci) = (Some("0000:3B:00.0".into()), Some("0000:d8:00.0".into()));
        let both = choose(&all, Some("NVIDIA H200")).expect_err("two").to_string();
        assert!(both.contains("`NVIDIA H200` (0000:3B:00.0), `NVIDIA H200` (0000:d8:00.0)"), "{both}");
        assert!(both.contains("PCI address"), "{both}");
        assert_eq!(choose(&all, Some("3b:00")).expect("one"), 0);
        assert_eq!(choose(&all, Some("0000:d8:00.0")).expect("one"), 1);
    }

    #[test]
    fn without_a_name_software_comes_last() {
        let all = adapters(&[("llvmpipe", true), ("Radeon", false)]);
        assert_eq!(choose(&all, None).expect("one"), 1);
        assert_eq!(choose(&all[..1], None).expect("one"), 0);
        assert!(matches!(choose(&[], None), Err(Error::Device { trouble: Trouble::Absent, .. })));
        assert!(choose(&[], Some("x")).expect_err("none").to_string().contains("mesa-vulkan-drivers"));
    }
}
