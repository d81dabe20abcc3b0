//! QEMU's plugin interface, version 1 (stable since QEMU 4.2), declared by hand so that no header of QEMU is needed.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};

/// What QEMU calls this plugin.
pub(crate) type PluginId = u64;
/// What QEMU knows of one access.
pub(crate) type AccessInfo = u32;

/// Handles of a translated block, of an instruction in it, and of a physical address: QEMU's, opaque.
pub(crate) enum Block {}
pub(crate) enum Instruction {}
enum PhysicalAddress {}

/// `QEMU_PLUGIN_CB_NO_REGS`: a callback does not look at registers.
const NO_REGISTERS: c_int = 0;
/// `QEMU_PLUGIN_MEM_RW`: loads and stores.
const LOADS_AND_STORES: c_int = 3;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: PluginId, callback: extern "C" fn(PluginId, *mut Block));
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    fn qemu_plugin_insn_data(instruction: *const Instruction) -> *const u8;
    fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        callback: extern "C" fn(c_uint, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut Instruction,
        callback: extern "C" fn(c_uint, AccessInfo, u64, *mut c_void),
        flags: c_int,
        kinds: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_mem_is_store(info: AccessInfo) -> bool;
    fn qemu_plugin_get_hwaddr(info: AccessInfo, virtual_address: u64) -> *mut PhysicalAddress;
    fn qemu_plugin_hwaddr_is_io(address: *const PhysicalAddress) -> bool;
    fn qemu_plugin_hwaddr_phys_addr(address: *const PhysicalAddress) -> u64;
    fn qemu_plugin_outs(text: *const c_char);
}

/// Has `callback` called for every block of instructions that QEMU translates.
pub(crate) fn on_translation(id: PluginId, callback: extern "C" fn(PluginId, *mut Block)) {
    // SAFETY: `id` is the one that QEMU gave to the install function, which is where this is called.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, callback) }
}

/// Calls `each` with the instructions of `block`.
///
/// # Safety
/// `block` must be the argument of a translation callback that has not returned.
pub(crate) unsafe fn each_instruction(block: *mut Block, mut each: impl FnMut(&Translated)) {
    // SAFETY: `block` is alive (the caller's promise).
    let instructions = unsafe { qemu_plugin_tb_n_insns(block) };
    for index in 0..instructions {
        // SAFETY: as above, and `index` is below the number of instructions.
        each(&Translated(unsafe { qemu_plugin_tb_get_insn(block, index) }));
    }
}

/// An instruction of a block that is being translated; made by [`each_instruction`] alone, and gone when it returns.
pub(crate) struct Translated(*mut Instruction);

impl Translated {
    /// Its virtual address.
    pub(crate) fn address(&self) -> u64 {
        // SAFETY: the instruction is alive: see the type.
        unsafe { qemu_plugin_insn_vaddr(self.0) }
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the instruction is alive; QEMU keeps `size` bytes at `data` for as long.
        unsafe { std::slice::from_raw_parts(qemu_plugin_insn_data(self.0), qemu_plugin_insn_size(self.0)) }
    }

    /// Has `callback` called with the number of the cpu whenever the instruction is executed.
    pub(crate) fn on_execution(&self, callback: extern "C" fn(c_uint, *mut c_void)) {
        // SAFETY: the instruction is alive; the callback does not use its data.
        unsafe {
            qemu_plugin_register_vcpu_insn_exec_cb(self.0, callback, NO_REGISTERS, std::ptr::null_mut());
        }
    }

    /// Has `callback` called for every access of the instruction, with the instruction's address as the data.
    pub(crate) fn on_access(&self, callback: extern "C" fn(c_uint, AccessInfo, u64, *mut c_void)) {
        let address = std::ptr::without_provenance_mut(self.address() as usize);
        // SAFETY: the instruction is alive; the callback takes its data for a number.
        unsafe { qemu_plugin_register_vcpu_mem_cb(self.0, callback, NO_REGISTERS, LOADS_AND_STORES, address) }
    }
}

/// Whether an access is a store.
///
/// # Safety
/// `info` must be the argument of an access callback that has not returned.
pub(crate) unsafe fn is_store(info: AccessInfo) -> bool {
    // SAFETY: the caller's promise.
    unsafe { qemu_plugin_mem_is_store(info) }
}

/// What QEMU calls the physical address of an access; `None` where it has none, or for a device.
///
/// # Safety
/// `info` and `virtual_address` must be the arguments of an access callback that has not returned.
pub(crate) unsafe fn physical_address(info: AccessInfo, virtual_address: u64) -> Option<u64> {
    // SAFETY: the arguments are those of this callback (the caller's promise), so the handle is null or good until it
    // returns.
    unsafe {
        let handle = qemu_plugin_get_hwaddr(info, virtual_address);
        let known = !handle.is_null() && !qemu_plugin_hwaddr_is_io(handle);
        known.then(|| qemu_plugin_hwaddr_phys_addr(handle))
    }
}

/// Writes `text` to QEMU's log.
pub(crate) fn log(text: &str) {
    let text = CString::new(text).expect("a report has no NUL");
    // SAFETY: the string ends in NUL and lives until the call returns.
    unsafe { qemu_plugin_outs(text.as_ptr()) }
}
