//! A thread a worker, bound as the plan says, for as long as one phase lasts.

use super::Plan;
use crate::os::affinity::{self, Binding};

/// Runs `work` for every worker on its own bound thread; results in order of the workers. The calling thread stays as
/// it is.
///
/// # Panics
/// If `work` does.
pub fn each<T: Send>(plan: &Plan, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    bound(plan, |worker, _| work(worker))
}

/// Binds a thread for every worker and reports what the kernel granted.
pub fn bindings(plan: &Plan) -> Vec<Binding> {
    bound(plan, |_, binding| binding)
}

fn bound<T: Send>(plan: &Plan, work: impl Fn(usize, Binding) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = plan
            .workers
            .iter()
            .enumerate()
            .map(|(number, worker)| {
                scope.spawn(move || {
                    let binding = if worker.pinned { affinity::bind(&worker.cpus) } else { affinity::unbound() };
                    work(number, binding)
                })
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}
