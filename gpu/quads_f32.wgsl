// Dense values of four bytes, four at a time.
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;

fn quad(at: u32) -> vec4<f32> {
    return values[at];
}
