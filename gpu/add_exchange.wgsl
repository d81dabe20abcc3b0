// Addition to a slot of the gradient by its bits: exchanged if nobody else was faster, else once more.
@group(0) @binding(8) var<storage, read_write> gradient: array<atomic<u32>>;

fn add(slot: u32, change: f32) {
    var old = atomicLoad(&gradient[slot]);
    loop {
        let tried = atomicCompareExchangeWeak(&gradient[slot], old, bitcast<u32>(bitcast<f32>(old) + change));
        if tried.exchanged {
            break;
        }
        old = tried.old_value;
    }
}
