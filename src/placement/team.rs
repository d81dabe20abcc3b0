//! A thread a worker, bound as the plan says, for as long as one phase lasts.

use super::Plan;
use crate::os::{
    affinity::{self, Binding},
    memory::{Home, stack_to},
};
use serde::Serialize;

/// Runs `work` for every worker on its own bound thread; results in order of the workers. The calling thread stays as
/// it is.
///
/// # Panics
/// If `work` does.
pub fn each<T: Send>(plan: &Plan, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    bound(plan, |worker, _| work(worker))
}

/// Where one worker's thread stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The cpus asked for and those granted.
    #[serde(flatten)]
    pub binding: Binding,
    /// Why its stack is not on its node, if it is not.
    pub stack: Option<String>,
}

impl Standing {
    /// Whether thread and stack are where the plan puts them.
    pub fn met(&self) -> bool {
        self.binding.met() && self.stack.is_none()
    }
}

/// Binds a thread for every worker and reports what the kernel granted.
pub fn standings(plan: &Plan) -> Vec<Standing> {
    bound(plan, |_, standing| standing)
}

fn bound<T: Send>(plan: &Plan, work: impl Fn(usize, Standing) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = plan
            .workers
            .iter()
            .enumerate()
            .map(|(number, worker)| {
                scope.spawn(move || {
                    let binding = if worker.pinned { affinity::bind(&worker.cpus) } else { affinity::unbound() };
                    let stack = match worker.home {
                        Home::Node(node) => stack_to(node).err(),
                        _ => None,
                    };
                    work(number, Standing { binding, stack })
                })
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}
