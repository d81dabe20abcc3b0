// The gradient of dense rows too wide for a team to hold, from their slopes. Twin: src/gpu/twin/columns.rs.
//
// An invocation has a vector of four slots and goes down every groups-th row; workgroup (i, k) has the i-th 256 vectors of
// partial gradient k. Traffic: the matrix, its second time; a slope a row, the same for all of a workgroup.
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(7) var<storage, read_write> partials: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read> slopes: array<f32>;

@compute @workgroup_size(GROUP)
fn main(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let at = group.x * GROUP + index;
    if at < batch.stride {
        var sum = vec4<f32>();
        for (var p = group.y; p < batch.count; p += batch.groups) {
            sum += slopes[batch.first + p] * quad(rows[batch.first + p] * batch.stride + at);
        }
        partials[group.y * batch.stride + at] = sum;
    }
}
