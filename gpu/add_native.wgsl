// Addition to a slot of the gradient where the adapter adds floats atomically.
@group(0) @binding(8) var<storage, read_write> gradient: array<atomic<f32>>;

fn add(slot: u32, change: f32) {
    atomicAdd(&gradient[slot], change);
}
