//! The calling thread's own stack, brought to its node.

use super::{
    home::on_only,
    nodes,
    policy::{self, MOVES_APART, MOVES_MAX, Mode, Present},
};
use std::{io, mem::MaybeUninit, ops::Range, thread};

/// Brings the calling thread's stack to `node`, pages that it has and pages to come, so that what a worker spills stays
/// local; a full node spills over to others. Threads start with stacks where their parent ran, or where another thread that
/// is gone left one.
///
/// # Errors
/// A sentence on what was refused, or stayed behind, and why.
pub fn stack_to(node: u32) -> Result<(), String> {
    if let Some(only) = nodes::only() {
        return on_only(only, &[node]);
    }
    let stack = extent().map_err(|error| format!("the extent of the thread's stack is not told ({error})"))?;
    let used = used(&stack);
    let whole = policy::apply(stack.clone(), Mode::Preferred, &[node], Present::Move);
    // The main thread's stack is mapped only as far as it has grown.
    whole.or_else(|_| policy::apply(used.clone(), Mode::Preferred, &[node], Present::Move))?;
    for _ in 0..MOVES_MAX {
        let strays = elsewhere(&used, node);
        if strays.is_empty() {
            return Ok(());
        }
        policy::send(&strays, &vec![node as libc::c_int; strays.len()]);
        thread::sleep(MOVES_APART);
    }
    match elsewhere(&used, node).len() {
        0 => Ok(()),
        strays => Err(format!("node {node}: {strays} pages of the thread's stack stay on other nodes")),
    }
}

/// The pages of `stack` that are known to lie on another node.
fn elsewhere(stack: &Range<usize>, node: u32) -> Vec<usize> {
    let pages: Vec<usize> = stack.clone().step_by(policy::page_bytes()).collect();
    let told = policy::nodes_of(&pages).unwrap_or_default();
    let strays = pages.iter().zip(told).filter(|&(_, told)| u32::try_from(told).is_ok_and(|on| on != node));
    strays.map(|(&page, _)| page).collect()
}

/// The part from this call's own frame up: stacks grow downwards.
fn used(stack: &Range<usize>) -> Range<usize> {
    let frame = 0u8;
    let page = policy::page_bytes();
    (&raw const frame as usize / page * page).max(stack.start)..stack.end
}

/// The addresses of the calling thread's stack, in whole pages.
fn extent() -> io::Result<Range<usize>> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the place has the size of what is written, and the thread is this one, which runs.
    let error = unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let (mut low, mut bytes) = (std::ptr::null_mut(), 0usize);
    // SAFETY: the attributes were written by the call above, which succeeded; both answers go to places of ours.
    let error = unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut bytes) };
    // SAFETY: they were initialised above and are not used again.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let page = policy::page_bytes();
    let low = low as usize;
    Ok(low.next_multiple_of(page)..(low + bytes) / page * page)
}
