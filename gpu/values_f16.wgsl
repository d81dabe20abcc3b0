// Values of two bytes, one at a time: neighbouring invocations share a word. Arithmetic is in f32.
@group(0) @binding(1) var<storage, read> values: array<u32>;

fn value(at: u32) -> f32 {
    let pair = unpack2x16float(values[at / 2u]);
    return select(pair.x, pair.y, at % 2u == 1u);
}
