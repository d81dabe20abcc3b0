// Partial sums added up in one order, and to what is there. Twin: src/gpu/twin/reduce.rs.
//
// A workgroup has eight vectors at a time; of each, lane k adds every LANES-th partial sum from the k-th on, and the lanes are
// added in order. Traffic: every partial sum once, 128 bytes in a row.
@group(0) @binding(7) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> result: array<vec4<f32>>;

const ABREAST: u32 = GROUP / LANES;
var<workgroup> pool: array<vec4<f32>, GROUP>;

@compute @workgroup_size(GROUP)
fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let lane = index / ABREAST;
    for (var first = group.x * ABREAST; first < batch.stride; first += groups.x * ABREAST) {
        let at = first + index % ABREAST;
        var sum = vec4<f32>();
        if at < batch.stride {
            for (var k = lane; k < batch.groups; k += LANES) {
                sum += partials[k * batch.stride + at];
            }
        }
        pool[index] = sum;
        workgroupBarrier();
        if lane == 0u && at < batch.stride {
            var all = vec4<f32>();
            for (var k = 0u; k < LANES; k++) {
                all += pool[k * ABREAST + index];
            }
            result[batch.target_first + at] += all;
        }
        workgroupBarrier();
    }
}
