// What memory can do: a copy, which benches hold kernels against. Not part of any gradient.
@group(0) @binding(7) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> result: array<vec4<f32>>;

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < batch.count; at += groups.x * GROUP) {
        result[at] = source[at];
    }
}
