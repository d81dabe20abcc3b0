// Dense values of two bytes, four at a time; arithmetic is in f32.
@group(0) @binding(1) var<storage, read> values: array<vec2<u32>>;

fn quad(at: u32) -> vec4<f32> {
    let packed = values[at];
    return vec4<f32>(unpack2x16float(packed.x), unpack2x16float(packed.y));
}
