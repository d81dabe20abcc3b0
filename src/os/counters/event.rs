//! The events of the cpu that can be counted of a thread.

use super::encoding::{Cpu, Encoding};
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware};

/// An event of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Cycles of the core in user mode.
    Cycles,
    /// Instructions retired in user mode.
    Instructions,
    /// Lines asked of the last cache.
    LlcReferences,
    /// Lines that the last cache did not have.
    LlcMisses,
    /// Cycles in which nothing could retire for want of data or of units.
    StalledCyclesBackend,
    /// Loads that memory answered, of any node.
    NodeLoads,
    /// Loads that another node's memory answered.
    NodeLoadMisses,
    /// Loads whose page was not in the translation cache.
    DtlbLoadMisses,
    /// Lines that came modified (on AMD: in any state) out of a cache of another node: what a shared written line
    /// costs.
    RemoteHitm,
    /// Lines that came from another node's memory.
    RemoteDram,
}

/// How the kernel is asked for an event.
pub(super) enum Request {
    Hardware(Hardware),
    Cache(Cache),
    Raw(Encoding),
}

impl Event {
    /// All of them, the most asked for first.
    pub const ALL: [Event; 10] = [
        Event::Cycles,
        Event::Instructions,
        Event::LlcReferences,
        Event::LlcMisses,
        Event::RemoteHitm,
        Event::RemoteDram,
        Event::StalledCyclesBackend,
        Event::NodeLoads,
        Event::NodeLoadMisses,
        Event::DtlbLoadMisses,
    ];

    /// Its name in readings.
    pub fn name(self) -> &'static str {
        match self {
            Event::Cycles => "cycles",
            Event::Instructions => "instructions",
            Event::LlcReferences => "llc_references",
            Event::LlcMisses => "llc_misses",
            Event::StalledCyclesBackend => "stalled_cycles_backend",
            Event::NodeLoads => "node_loads",
            Event::NodeLoadMisses => "node_load_misses",
            Event::DtlbLoadMisses => "dtlb_load_misses",
            Event::RemoteHitm => "remote_hitm",
            Event::RemoteDram => "remote_dram",
        }
    }

    /// How to ask for it on `cpu`.
    ///
    /// The kernel's generic `cache-references` are the last cache's on Intel, the second's on AMD and the first's
    /// on Arm, so it is taken on Intel alone; AMD's cores count where the lines that they fill come from; others
    /// have the generic event of the last cache.
    ///
    /// # Errors
    /// A reason, where no encoding is known for this cpu.
    pub(super) fn request(self, cpu: &Cpu) -> Result<Request, String> {
        let read = |which, result| Request::Cache(Cache { which, operation: CacheOp::READ, result });
        Ok(match self {
            Event::Cycles => Request::Hardware(Hardware::CPU_CYCLES),
            Event::Instructions => Request::Hardware(Hardware::INSTRUCTIONS),
            Event::StalledCyclesBackend => Request::Hardware(Hardware::STALLED_CYCLES_BACKEND),
            Event::LlcReferences if cpu.is_intel() => Request::Hardware(Hardware::CACHE_REFERENCES),
            Event::LlcMisses if cpu.is_intel() => Request::Hardware(Hardware::CACHE_MISSES),
            Event::LlcReferences if !cpu.is_amd() => read(CacheId::LL, CacheResult::ACCESS),
            Event::LlcMisses if !cpu.is_amd() => read(CacheId::LL, CacheResult::MISS),
            Event::LlcReferences | Event::LlcMisses | Event::RemoteHitm | Event::RemoteDram => {
                Request::Raw(cpu.encoding(self)?)
            }
            Event::NodeLoads => read(CacheId::NODE, CacheResult::ACCESS),
            Event::NodeLoadMisses => read(CacheId::NODE, CacheResult::MISS),
            Event::DtlbLoadMisses => read(CacheId::DTLB, CacheResult::MISS),
        })
    }

    /// What [`Reading::by`](super::Reading::by) says where `perf_event_open` counted it.
    pub(super) fn by(self, request: &Request) -> String {
        let generic = match (request, self) {
            (Request::Raw(encoding), _) => return format!("{}, user mode", encoding),
            (_, Event::Cycles) => "cpu-cycles",
            (_, Event::Instructions) => "instructions",
            (_, Event::StalledCyclesBackend) => "stalled-cycles-backend",
            (Request::Hardware(_), Event::LlcReferences) => "cache-references",
            (Request::Hardware(_), Event::LlcMisses) => "cache-misses",
            (_, Event::LlcReferences) => "LLC-loads",
            (_, Event::LlcMisses) => "LLC-load-misses",
            (_, Event::NodeLoads) => "node-loads",
            (_, Event::NodeLoadMisses) => "node-load-misses",
            (_, Event::DtlbLoadMisses) => "dTLB-load-misses",
            (_, Event::RemoteHitm | Event::RemoteDram) => "raw",
        };
        format!("perf event {generic}, user mode")
    }
}
