//! The declarations of hwloc 2.x that are used, checked against `hwloc.h` and `hwloc/distances.h` of 2.9.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulong, c_ushort, c_void};

/// `hwloc_topology_t` points to one.
#[repr(C)]
pub(super) struct Topology {
    private: [u8; 0],
}

/// `hwloc_bitmap_t` points to one.
#[repr(C)]
pub(super) struct Set {
    private: [u8; 0],
}

/// `struct hwloc_obj`. Fields that are not read keep their place.
#[repr(C)]
#[allow(dead_code)]
pub(super) struct Object {
    kind: c_int,
    subtype: *mut c_char,
    pub(super) os_index: c_uint,
    pub(super) name: *mut c_char,
    total_memory: u64,
    pub(super) attr: *mut c_void,
    depth: c_int,
    logical_index: c_uint,
    next_cousin: *mut Object,
    prev_cousin: *mut Object,
    pub(super) parent: *mut Object,
    sibling_rank: c_uint,
    next_sibling: *mut Object,
    prev_sibling: *mut Object,
    arity: c_uint,
    children: *mut *mut Object,
    first_child: *mut Object,
    last_child: *mut Object,
    symmetric_subtree: c_int,
    memory_arity: c_uint,
    memory_first_child: *mut Object,
    io_arity: c_uint,
    io_first_child: *mut Object,
    misc_arity: c_uint,
    misc_first_child: *mut Object,
    pub(super) cpuset: *mut Set,
    complete_cpuset: *mut Set,
    nodeset: *mut Set,
    complete_nodeset: *mut Set,
    infos: *mut c_void,
    infos_count: c_uint,
    userdata: *mut c_void,
    gp_index: u64,
}

/// `struct hwloc_pcidev_attr_s`, up to the last member that is read.
#[repr(C)]
pub(super) struct Pci {
    pub(super) domain: c_ushort,
    pub(super) bus: c_uchar,
    pub(super) device: c_uchar,
    pub(super) function: c_uchar,
    pub(super) class: c_ushort,
    pub(super) vendor: c_ushort,
}

/// `struct hwloc_distances_s`.
#[repr(C)]
pub(super) struct Distances {
    pub(super) count: c_uint,
    pub(super) objects: *mut *mut Object,
    pub(super) kind: c_ulong,
    pub(super) values: *mut u64,
}

pub(super) const TYPE_PACKAGE: c_int = 1;
pub(super) const TYPE_CORE: c_int = 2;
pub(super) const TYPE_PU: c_int = 3;
pub(super) const TYPE_L2: c_int = 5;
pub(super) const TYPE_L3: c_int = 6;
pub(super) const TYPE_NUMA_NODE: c_int = 13;

/// `HWLOC_TYPE_DEPTH_NUMANODE`.
pub(super) const DEPTH_NUMA_NODE: c_int = -3;

/// `HWLOC_TYPE_DEPTH_PCI_DEVICE`.
pub(super) const DEPTH_PCI_DEVICE: c_int = -5;

/// `HWLOC_TYPE_FILTER_KEEP_IMPORTANT`.
pub(super) const KEEP_IMPORTANT: c_int = 3;

/// `HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST`.
pub(super) const LEAVE_OUT: c_ulong = 1;

/// `HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED`: keep what the cpuset forbids, so that it can be shown as not usable.
pub(super) const INCLUDE_DISALLOWED: c_ulong = 1;

/// `HWLOC_DISTANCES_KIND_MEANS_LATENCY`.
pub(super) const MEANS_LATENCY: c_ulong = 4;

unsafe extern "C" {
    pub(super) fn hwloc_get_api_version() -> c_uint;
    pub(super) fn hwloc_topology_init(topology: *mut *mut Topology) -> c_int;
    pub(super) fn hwloc_topology_set_flags(topology: *mut Topology, flags: c_ulong) -> c_int;
    pub(super) fn hwloc_topology_set_xmlbuffer(
        topology: *mut Topology,
        text: *const c_char,
        length: c_int,
    ) -> c_int;
    pub(super) fn hwloc_topology_set_synthetic(topology: *mut Topology, text: *const c_char) -> c_int;
    pub(super) fn hwloc_topology_set_io_types_filter(topology: *mut Topology, filter: c_int) -> c_int;
    pub(super) fn hwloc_topology_set_components(
        topology: *mut Topology,
        flags: c_ulong,
        name: *const c_char,
    ) -> c_int;
    pub(super) fn hwloc_topology_load(topology: *mut Topology) -> c_int;
    pub(super) fn hwloc_topology_destroy(topology: *mut Topology);
    pub(super) fn hwloc_topology_is_thissystem(topology: *mut Topology) -> c_int;
    pub(super) fn hwloc_topology_get_allowed_cpuset(topology: *mut Topology) -> *const Set;
    pub(super) fn hwloc_topology_get_allowed_nodeset(topology: *mut Topology) -> *const Set;
    pub(super) fn hwloc_get_type_depth(topology: *mut Topology, kind: c_int) -> c_int;
    pub(super) fn hwloc_get_nbobjs_by_depth(topology: *mut Topology, depth: c_int) -> c_uint;
    pub(super) fn hwloc_get_obj_by_depth(topology: *mut Topology, depth: c_int, index: c_uint) -> *mut Object;
    pub(super) fn hwloc_distances_get_by_type(
        topology: *mut Topology,
        kind: c_int,
        count: *mut c_uint,
        matrices: *mut *mut Distances,
        means: c_ulong,
        flags: c_ulong,
    ) -> c_int;
    pub(super) fn hwloc_distances_release(topology: *mut Topology, matrix: *mut Distances);
}
