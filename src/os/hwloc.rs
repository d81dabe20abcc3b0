//! hwloc's C calls: a topology is opened on a handle of our own, copied into plain values, and closed, all within
//! [`read`]. `hwloc2` links the library and owns the bitmaps; its handle is private, its calls on NUMA nodes panic and
//! some of its safe methods write out of bounds, so those go through the declarations in `c.rs`.

// The calls are C; nothing of them leaves this module.
#![allow(unsafe_code)]

mod c;
mod gpus;

use hwloc2::Bitmap;
use std::{
    ffi::{CString, c_int, c_uint},
    ptr,
};

/// What to read.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The machine that runs this process.
    Host,
    /// The text of an hwloc XML file.
    Xml(&'a [u8]),
    /// An hwloc synthetic description.
    Synthetic(&'a str),
}

/// A set of cpus with a size: a core (size 0), or a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Size in bytes where it is a cache.
    pub bytes: u64,
    /// OS numbers of its cpus, ascending.
    pub cpus: Vec<u32>,
}

/// A NUMA node as hwloc has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumaNode {
    /// OS number.
    pub os: u32,
    /// Local memory in bytes; hwloc writes 0 for none and for unknown.
    pub bytes: u64,
    /// OS numbers of the cpus it is local to, ascending.
    pub cpus: Vec<u32>,
}

/// A graphics or accelerator card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// As hwloc names it, if it does.
    pub name: Option<String>,
    /// Its PCI address, such as `0000:81:00.0`.
    pub pci: String,
    /// OS numbers of the cpus that it hangs on, ascending.
    pub cpus: Vec<u32>,
}

/// The objects of a machine, each kind in logical order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objects {
    /// False if hwloc says that this is not the machine it runs on.
    pub this_system: bool,
    /// Cpus, by OS number.
    pub cpus: Vec<u32>,
    /// Those of them that the cpuset allows.
    pub allowed_cpus: Vec<u32>,
    /// OS numbers of the nodes whose memory the cpuset allows.
    pub allowed_nodes: Vec<u32>,
    /// Packages.
    pub packages: Vec<Group>,
    /// Cores.
    pub cores: Vec<Group>,
    /// L2 caches.
    pub l2s: Vec<Group>,
    /// L3 caches.
    pub l3s: Vec<Group>,
    /// NUMA nodes.
    pub nodes: Vec<NumaNode>,
    /// GPUs.
    pub cards: Vec<Card>,
    /// Relative latencies between all the nodes in the order of `nodes`, if a matrix of all of them is stated.
    pub distance: Option<Vec<Vec<u64>>>,
}

/// Opens, copies and closes.
///
/// # Errors
/// What hwloc had against the source, in words.
pub fn read(source: Source<'_>) -> Result<Objects, String> {
    let handle = Handle::open(source)?;
    Ok(handle.objects())
}

/// The version of the library that runs, such as `2.9`.
pub fn version() -> String {
    // SAFETY: takes nothing and reads a constant.
    let version = unsafe { c::hwloc_get_api_version() };
    format!("{}.{}", version >> 16, version >> 8 & 0xff)
}

/// A loaded topology, destroyed when dropped.
struct Handle(*mut c::Topology);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `hwloc_topology_init` in `open`, and this is the only place that frees it.
        unsafe { c::hwloc_topology_destroy(self.0) }
    }
}

impl Handle {
    fn open(source: Source<'_>) -> Result<Handle, String> {
        // The structures below are those of hwloc 2; the same program may meet another library at run time.
        // SAFETY: takes nothing and reads a constant.
        let major = unsafe { c::hwloc_get_api_version() } >> 16;
        if major != 2 {
            return Err(format!("the hwloc library here has version {}; this program needs 2.x", version()));
        }
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` is a place for one pointer; on success it holds a topology that `Handle` owns.
        if unsafe { c::hwloc_topology_init(&mut raw) } != 0 {
            return Err("hwloc cannot make a topology (out of memory)".into());
        }
        let handle = Handle(raw);
        handle.keep_cards();
        handle.set_source(source)?;
        // SAFETY: initialised above, not loaded yet; the flags are hwloc's own constants.
        let flags = unsafe { c::hwloc_topology_set_flags(handle.0, c::INCLUDE_DISALLOWED) };
        // SAFETY: initialised above, not loaded yet.
        if flags != 0 || unsafe { c::hwloc_topology_load(handle.0) } != 0 {
            return Err("hwloc cannot load it".to_string());
        }
        Ok(handle)
    }

    fn set_source(&self, source: Source<'_>) -> Result<(), String> {
        let status = match source {
            Source::Host => 0,
            Source::Xml(text) => {
                let length = c_int::try_from(text.len()).map_err(|_| "the file has 2 GiB or more".to_string())?;
                // SAFETY: initialised and not loaded; the buffer has `length` bytes, and hwloc parses or copies it
                // before it returns.
                unsafe { c::hwloc_topology_set_xmlbuffer(self.0, text.as_ptr().cast(), length) }
            }
            Source::Synthetic(text) => {
                let text = CString::new(text).map_err(|_| "it contains a zero byte".to_string())?;
                // SAFETY: initialised and not loaded; the string ends in zero and is parsed before the call returns.
                unsafe { c::hwloc_topology_set_synthetic(self.0, text.as_ptr()) }
            }
        };
        if status == 0 { Ok(()) } else { Err("hwloc cannot parse it".into()) }
    }

    fn objects(&self) -> Objects {
        // SAFETY: loaded in `open`; both calls return sets that belong to the topology and live as long as it.
        let (cpus, nodes, this_system) = unsafe {
            (
                c::hwloc_topology_get_allowed_cpuset(self.0),
                c::hwloc_topology_get_allowed_nodeset(self.0),
                c::hwloc_topology_is_thissystem(self.0) != 0,
            )
        };
        let numa_nodes = self.level(c::DEPTH_NUMA_NODE);
        Objects {
            this_system,
            cpus: self.of_type(c::TYPE_PU).iter().map(|cpu| cpu.os_index).collect(),
            allowed_cpus: numbers(cpus),
            allowed_nodes: numbers(nodes),
            packages: self.groups(c::TYPE_PACKAGE),
            cores: self.groups(c::TYPE_CORE),
            l2s: self.groups(c::TYPE_L2),
            l3s: self.groups(c::TYPE_L3),
            nodes: numa_nodes.iter().map(|node| numa_node(node)).collect(),
            cards: self.cards(),
            distance: self.distance(&numa_nodes),
        }
    }

    fn of_type(&self, kind: c_int) -> Vec<&c::Object> {
        // SAFETY: loaded in `open`; any number is allowed as a type.
        match unsafe { c::hwloc_get_type_depth(self.0, kind) } {
            depth if depth < 0 => Vec::new(),
            depth => self.level(depth),
        }
    }

    /// The objects at a depth; the borrow of `self` keeps the topology that owns them.
    fn level(&self, depth: c_int) -> Vec<&c::Object> {
        // SAFETY: loaded in `open`; a depth that does not exist has 0 objects.
        let count = unsafe { c::hwloc_get_nbobjs_by_depth(self.0, depth) };
        // SAFETY: the returned pointer is null or an object of hwloc 2 (checked in `open`) that the topology owns and
        // nobody changes after the load.
        (0..count).filter_map(|i| unsafe { c::hwloc_get_obj_by_depth(self.0, depth, i).as_ref() }).collect()
    }

    fn groups(&self, kind: c_int) -> Vec<Group> {
        let is_cache = kind == c::TYPE_L2 || kind == c::TYPE_L3;
        let group = |object: &&c::Object| Group {
            bytes: if is_cache { first_attribute(object) } else { 0 },
            cpus: numbers(object.cpuset),
        };
        self.of_type(kind).iter().map(group).collect()
    }

    /// The first matrix of latencies that covers every node.
    fn distance(&self, nodes: &[&c::Object]) -> Option<Vec<Vec<u64>>> {
        let mut matrices = [ptr::null_mut::<c::Distances>(); 16];
        let mut count = matrices.len() as c_uint;
        // SAFETY: loaded in `open`; `matrices` has room for `count` pointers, and hwloc sets those that it has.
        let status = unsafe {
            c::hwloc_distances_get_by_type(self.0, c::TYPE_NUMA_NODE, &mut count, matrices.as_mut_ptr(), 0, 0)
        };
        if status != 0 {
            return None;
        }
        let mut found = None;
        for matrix in matrices.into_iter().take(count as usize).filter(|matrix| !matrix.is_null()) {
            // SAFETY: a matrix that hwloc filled and that is released only below.
            let stated = unsafe { &*matrix };
            if found.is_none() && stated.kind & c::MEANS_LATENCY != 0 {
                found = ordered(stated, nodes);
            }
            // SAFETY: obtained above from the same topology, released once, not used after.
            unsafe { c::hwloc_distances_release(self.0, matrix) }
        }
        found
    }
}

fn numa_node(node: &c::Object) -> NumaNode {
    NumaNode { os: node.os_index, bytes: first_attribute(node), cpus: numbers(node.cpuset) }
}

/// The first attribute: a node's local memory, a cache's size.
fn first_attribute(object: &c::Object) -> u64 {
    if object.attr.is_null() {
        return 0;
    }
    // SAFETY: not null, so it points to hwloc's union of attributes, whose member for NUMA nodes and whose member for
    // caches (the only types this is called for) both begin with a 64-bit number.
    unsafe { object.attr.cast::<u64>().read() }
}

/// The members of a set, ascending.
fn numbers(set: *const c::Set) -> Vec<u32> {
    if set.is_null() {
        return Vec::new();
    }
    // hwloc2's bitmap is used unmanaged, as an alias that is read and dropped without freeing. An infinite set has a
    // negative weight, and iterating over it would not end.
    let set = Bitmap::from_raw(set.cast_mut().cast(), false);
    if set.weight() < 0 { Vec::new() } else { set.clone().into_iter().collect() }
}

/// A matrix in the order of `nodes`, or `None` if one of them is not in it.
fn ordered(stated: &c::Distances, nodes: &[&c::Object]) -> Option<Vec<Vec<u64>>> {
    let count = stated.count as usize;
    if stated.objects.is_null() || stated.values.is_null() {
        return None;
    }
    // SAFETY: hwloc states `count` objects and `count`² values behind these pointers, and both live until the release
    // in the caller.
    let (objects, values) = unsafe {
        (
            std::slice::from_raw_parts(stated.objects, count),
            std::slice::from_raw_parts(stated.values, count * count),
        )
    };
    let place = |node: &&c::Object| objects.iter().position(|object| ptr::eq(*object, *node));
    let places: Option<Vec<usize>> = nodes.iter().map(place).collect();
    let places = places.filter(|places| !places.is_empty())?;
    Some(places.iter().map(|i| places.iter().map(|j| values[i * count + j]).collect()).collect())
}
