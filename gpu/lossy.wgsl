// A write as on the cpus' lossy merge: load, add, store; of two that meet one is lost.
@group(0) @binding(6) var<storage, read_write> x: array<atomic<u32>>;

fn move_slot(slot: u32, change: f32) {
    atomicStore(&x[slot], bitcast<u32>(bitcast<f32>(atomicLoad(&x[slot])) + change));
}
