//! The events that only a vendor's own numbers name: lines that come from another node.
//!
//! Encodings are those of the vendors' lists that Linux ships (`tools/perf/pmu-events/arch/x86`, a folder a model,
//! chosen by `mapfile.csv`): on Intel `cache.json`, event D3H; on AMD `memory.json` (Zen 2, 3) and
//! `load-store.json` (Zen 5, 6), events 43H and 44H, which is also where the processor programming references name
//! them (PMCx043, PMCx044).

use super::event::Event;
use std::fmt;

/// The cpu, as far as it chooses an encoding: of /proc/cpuinfo, the first processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// `GenuineIntel`, `AuthenticAMD`, …; empty where the file has none, as on Arm.
    pub vendor: String,
    /// The family, such as 6 or 25.
    pub family: u32,
    /// The model within it.
    pub model: u32,
}

/// A vendor's event: its number as `perf_event_open` takes it (event select in bits 0 to 7, unit mask in 8 to 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The vendor's name of it.
    pub name: &'static str,
    /// The number.
    pub config: u64,
}

impl fmt::Display for Encoding {
    /// Such as `MEM_LOAD_L3_MISS_RETIRED.REMOTE_HITM (raw 0x4d3)`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} (raw {:#x})", self.name, self.config)
    }
}

impl Cpu {
    /// From the text of /proc/cpuinfo.
    pub fn from_cpuinfo(text: &str) -> Self {
        let value = |key: &str| {
            let lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim()).next()
        };
        let number = |key| value(key).and_then(|text| text.parse().ok()).unwrap_or(0);
        Cpu {
            vendor: value("vendor_id").unwrap_or_default().to_string(),
            family: number("cpu family"),
            model: number("model"),
        }
    }

    pub(super) fn is_intel(&self) -> bool {
        self.vendor == "GenuineIntel"
    }

    pub(super) fn is_amd(&self) -> bool {
        ["AuthenticAMD", "HygonGenuine"].contains(&self.vendor.as_str())
    }

    /// The vendor's event for [`RemoteHitm`](Event::RemoteHitm), [`RemoteDram`](Event::RemoteDram) and, on AMD,
    /// [`LlcReferences`](Event::LlcReferences) and [`LlcMisses`](Event::LlcMisses).
    ///
    /// AMD's fills do not tell whether the line was modified where it came from, and count prefetches into the
    /// first cache from Zen 3 on; Intel's are loads that retired. So compare runs on one machine, not machines.
    ///
    /// # Errors
    /// A reason, where none is known for this cpu.
    pub fn encoding(&self, event: Event) -> Result<Encoding, String> {
        let known = if self.is_intel() && self.family == 6 {
            self.intel(event)
        } else if self.vendor == "AuthenticAMD" {
            self.amd(event)
        } else {
            None
        };
        known.map(|(name, config)| Encoding { name, config }).ok_or_else(|| {
            let cpu = if self.vendor.is_empty() {
                "a cpu of this architecture".to_string()
            } else {
                format!("{} family {} model {}", self.vendor, self.family, self.model)
            };
            format!(
                "no encoding of {} is known for {cpu}, only for Intel servers from Haswell to Granite Rapids \
                 and AMD Zen 2 to Zen 6: look the event up in `perf list` and count it with `perf stat`",
                event.name()
            )
        })
    }

    fn intel(&self, event: Event) -> Option<(&'static str, u64)> {
        // Haswell-EP and -EX, Broadwell-EP and -EX.
        let is_old = [0x3f, 0x4f].contains(&self.model);
        // Skylake-SP and Cascade Lake, Ice Lake-SP and -D, Sapphire, Emerald and Granite Rapids.
        let is_new = [0x55, 0x6a, 0x6c, 0x8f, 0xcf, 0xad, 0xae].contains(&self.model);
        match event {
            Event::RemoteHitm if is_old => Some(("MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_HITM", 0x10d3)),
            Event::RemoteDram if is_old => Some(("MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM", 0x04d3)),
            Event::RemoteHitm if is_new => Some(("MEM_LOAD_L3_MISS_RETIRED.REMOTE_HITM", 0x04d3)),
            Event::RemoteDram if is_new => Some(("MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM", 0x02d3)),
            _ => None,
        }
    }

    fn amd(&self, event: Event) -> Option<(&'static str, u64)> {
        // Family 17h: Zen and Zen+ have models below 30h and no such event. Family 19h: Zen 3 has models 0x, 2x, 4x
        // and 5x, Zen 4 the others. Family 1ah: Zen 5 and 6.
        let zen = match (self.family, self.model >> 4) {
            (0x17, 3..) => 2,
            (0x19, 0 | 2 | 4 | 5) => 3,
            (0x19, _) => 4,
            (0x1a, _) => 5,
            _ => return None,
        };
        match (event, zen) {
            (Event::RemoteHitm, 2) => Some(("LS_REFILLS_FROM_SYS.LS_MABRESP_RMT_CACHE", 0x1043)),
            (Event::RemoteDram, 2) => Some(("LS_REFILLS_FROM_SYS.LS_MABRESP_RMT_DRAM", 0x4043)),
            (Event::RemoteHitm, 3) => Some(("LS_ANY_FILLS_FROM_SYS.EXT_CACHE_REMOTE", 0x1044)),
            (Event::RemoteDram, 3) => Some(("LS_ANY_FILLS_FROM_SYS.MEM_IO_REMOTE", 0x4044)),
            (Event::RemoteHitm, 4..) => Some(("LS_ANY_FILLS_FROM_SYS.FAR_CACHE", 0x1044)),
            (Event::RemoteDram, 4..) => Some(("LS_ANY_FILLS_FROM_SYS.DRAM_IO_FAR", 0x4044)),
            // Masks of sources: 02 this complex, 04 and 10 other complexes, 08 and 40 memory, 80 (from Zen 4)
            // extension memory.
            (Event::LlcReferences, 3) => Some(("LS_ANY_FILLS_FROM_SYS, from beyond the L2", 0x5e44)),
            (Event::LlcMisses, 3) => Some(("LS_ANY_FILLS_FROM_SYS, from beyond the L3", 0x5c44)),
            (Event::LlcReferences, 4..) => Some(("LS_ANY_FILLS_FROM_SYS, from beyond the L2", 0xde44)),
            (Event::LlcMisses, 4..) => Some(("LS_ANY_FILLS_FROM_SYS, from beyond the L3", 0xdc44)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(vendor: &str, family: u32, model: u32) -> Cpu {
        Cpu { vendor: vendor.into(), family, model }
    }

    #[test]
    fn the_cpu_is_read_off_the_first_processor() {
        let text = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n\
                    model name\t: AMD EPYC 9654\n\nprocessor\t: 1\nvendor_id\t: Other\nmodel\t\t: 3\n";
        assert_eq!(Cpu::from_cpuinfo(text), cpu("AuthenticAMD", 25, 17));
        assert_eq!(Cpu::from_cpuinfo("processor\t: 0\nCPU implementer\t: 0x41\n"), Cpu::default());
        assert_eq!(Cpu::from_cpuinfo(""), Cpu::default());
    }

    #[test]
    fn each_server_generation_has_its_own_numbers() {
        let config = |cpu: &Cpu, event| cpu.encoding(event).expect("known").config;
        for (vendor, family, model, hitm, dram) in [
            ("GenuineIntel", 6, 0x3f, 0x10d3, 0x04d3),
            ("GenuineIntel", 6, 0x4f, 0x10d3, 0x04d3),
            ("GenuineIntel", 6, 0x55, 0x04d3, 0x02d3),
            ("GenuineIntel", 6, 0x6a, 0x04d3, 0x02d3),
            ("GenuineIntel", 6, 0xad, 0x04d3, 0x02d3),
            ("AuthenticAMD", 0x17, 0x31, 0x1043, 0x4043),
            ("AuthenticAMD", 0x19, 0x01, 0x1044, 0x4044),
            ("AuthenticAMD", 0x19, 0x11, 0x1044, 0x4044),
            ("AuthenticAMD", 0x1a, 0x02, 0x1044, 0x4044),
        ] {
            let cpu = cpu(vendor, family, model);
            assert_eq!((config(&cpu, Event::RemoteHitm), config(&cpu, Event::RemoteDram)), (hitm, dram), "{cpu:?}");
        }
        assert_eq!(config(&cpu("AuthenticAMD", 0x19, 0x21), Event::LlcMisses), 0x5c44);
        assert_eq!(config(&cpu("AuthenticAMD", 0x19, 0xa0), Event::LlcMisses), 0xdc44);
    }

    #[test]
    fn a_cpu_without_a_known_encoding_is_named_in_the_reason() {
        for (unknown, named) in [
            (cpu("GenuineIntel", 6, 0x97), "GenuineIntel family 6 model 151"),
            (cpu("AuthenticAMD", 0x17, 0x01), "AuthenticAMD family 23 model 1"),
            (cpu("HygonGenuine", 0x18, 0x00), "HygonGenuine family 24 model 0"),
            (Cpu::default(), "a cpu of this architecture"),
        ] {
            let reason = unknown.encoding(Event::RemoteHitm).expect_err("unknown");
            assert!(reason.contains(named) && reason.contains("remote_hitm"), "{reason}");
        }
    }

    #[test]
    fn an_encoding_is_written_with_its_number() {
        let encoding = cpu("GenuineIntel", 6, 0x8f).encoding(Event::RemoteDram).expect("known");
        assert_eq!(encoding.to_string(), "MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM (raw 0x2d3)");
    }
}
