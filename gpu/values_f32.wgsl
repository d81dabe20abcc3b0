// Values of four bytes, one at a time.
@group(0) @binding(1) var<storage, read> values: array<f32>;

fn value(at: u32) -> f32 {
    return values[at];
}
