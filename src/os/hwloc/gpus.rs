//! The GPUs of a machine: PCI devices that compute or draw, and the cpus they hang on. hwloc reads them of `/sys` and of its XML,
//! and is kept from asking the vendors' libraries, which would start the cards up.

use super::{Card, Handle, c, numbers};
use std::ffi::CStr;

/// hwloc's components that load a vendor's library.
const VENDORS: [&CStr; 6] = [c"cuda", c"nvml", c"opencl", c"rsmi", c"levelzero", c"gl"];

/// PCI classes: display controllers (VGA, 3D and others) and processing accelerators.
const CLASSES: [u16; 2] = [0x03, 0x12];

/// Makers of the screens of service processors and of virtual machines, which compute nothing: ASPEED, Matrox, Cirrus, QEMU,
/// Red Hat's QXL, Bochs.
const SCREENS: [u16; 6] = [0x1a03, 0x102b, 0x1013, 0x1b36, 0x1af4, 0x1234];

impl Handle {
    /// Asks for I/O devices, before the load. Where hwloc refuses, there are none.
    pub(super) fn keep_cards(&self) {
        // SAFETY: initialised and not loaded; the filter is hwloc's own constant.
        unsafe { c::hwloc_topology_set_io_types_filter(self.0, c::KEEP_IMPORTANT) };
        for name in VENDORS {
            // SAFETY: initialised and not loaded; the name ends in zero, and an unknown one is refused.
            unsafe { c::hwloc_topology_set_components(self.0, c::LEAVE_OUT, name.as_ptr()) };
        }
    }

    pub(super) fn cards(&self) -> Vec<Card> {
        self.level(c::DEPTH_PCI_DEVICE).into_iter().filter_map(card).collect()
    }
}

fn card(device: &c::Object) -> Option<Card> {
    if device.attr.is_null() {
        return None;
    }
    // SAFETY: not null, so it points to hwloc's union of attributes, whose member for the PCI devices of this level `Pci` is.
    let pci = unsafe { &*device.attr.cast::<c::Pci>() };
    if !CLASSES.contains(&(pci.class >> 8)) || SCREENS.contains(&pci.vendor) {
        return None;
    }
    let address = format!("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.device, pci.function);
    Some(Card { name: name(device), pci: address, cpus: cpus(device) })
}

fn name(device: &c::Object) -> Option<String> {
    if device.name.is_null() {
        return None;
    }
    // SAFETY: not null, so a string that ends in zero and lives as long as the topology, which `device` borrows.
    let name = unsafe { CStr::from_ptr(device.name) }.to_string_lossy().trim().to_string();
    (!name.is_empty()).then_some(name)
}

/// Those of the nearest object above it that has cpus: devices and bridges have none.
fn cpus(device: &c::Object) -> Vec<u32> {
    let mut above = device.parent;
    // SAFETY: null or an object of the same topology, all of which live as long as it.
    while let Some(object) = unsafe { above.as_ref() } {
        if !object.cpuset.is_null() {
            return numbers(object.cpuset);
        }
        above = object.parent;
    }
    Vec::new()
}
