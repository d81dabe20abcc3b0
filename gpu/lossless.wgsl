// A write of which nothing is lost: the bits are exchanged if nobody else was faster, else once more.
@group(0) @binding(6) var<storage, read_write> x: array<atomic<u32>>;

fn move_slot(slot: u32, change: f32) {
    var old = atomicLoad(&x[slot]);
    loop {
        let tried = atomicCompareExchangeWeak(&x[slot], old, bitcast<u32>(bitcast<f32>(old) + change));
        if tried.exchanged {
            break;
        }
        old = tried.old_value;
    }
}
