//! The events that can be counted of a thread.

use super::encoding::{Cpu, Encoding};
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};

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
    /// Time on a cpu, user and kernel.
    TaskClock,
    /// Times that the cpu was given to another thread.
    ContextSwitches,
    /// Times that the thread went on on another cpu.
    CpuMigrations,
    /// Page faults answered without the disk.
    PageFaultsMinor,
    /// Page faults that waited for the disk.
    PageFaultsMajor,
}

/// How the kernel is asked for an event.
pub(super) enum Request {
    Hardware(Hardware),
    Cache(Cache),
    Software(Software),
    Raw(Encoding),
}

/// The events that the kernel counts, and counts of what happens in the kernel.
const SWITCHES: [Event; 2] = [Event::ContextSwitches, Event::CpuMigrations];

impl Event {
    /// All of them: hardware first, the most asked for first.
    pub const ALL: [Event; 15] = [
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
        Event::TaskClock,
        Event::ContextSwitches,
        Event::CpuMigrations,
        Event::PageFaultsMinor,
        Event::PageFaultsMajor,
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
            Event::TaskClock => "task_clock",
            Event::ContextSwitches => "context_switches",
            Event::CpuMigrations => "cpu_migrations",
            Event::PageFaultsMinor => "page_faults_minor",
            Event::PageFaultsMajor => "page_faults_major",
        }
    }

    /// The unit of its readings: `s` for [`TaskClock`](Event::TaskClock), else `events`.
    pub fn unit(self) -> &'static str {
        if self == Event::TaskClock { "s" } else { "events" }
    }

    /// True for what the kernel counts, so that any machine has it.
    pub fn is_software(self) -> bool {
        SWITCHES.contains(&self)
            || matches!(self, Event::TaskClock | Event::PageFaultsMinor | Event::PageFaultsMajor)
    }

    /// True for an event that takes place in the kernel: counting user mode alone would always find none.
    pub(super) fn is_in_kernel(self) -> bool {
        SWITCHES.contains(&self)
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
            Event::TaskClock => Request::Software(Software::TASK_CLOCK),
            Event::ContextSwitches => Request::Software(Software::CONTEXT_SWITCHES),
            Event::CpuMigrations => Request::Software(Software::CPU_MIGRATIONS),
            Event::PageFaultsMinor => Request::Software(Software::PAGE_FAULTS_MIN),
            Event::PageFaultsMajor => Request::Software(Software::PAGE_FAULTS_MAJ),
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
            (_, Event::TaskClock) => return "perf event task-clock".into(),
            (_, Event::ContextSwitches) => return "perf event context-switches".into(),
            (_, Event::CpuMigrations) => return "perf event cpu-migrations".into(),
            (_, Event::PageFaultsMinor) => "minor-faults",
            (_, Event::PageFaultsMajor) => "major-faults",
            (_, Event::RemoteHitm | Event::RemoteDram) => "raw",
        };
        format!("perf event {generic}, user mode")
    }
}
