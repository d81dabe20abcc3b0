// A pass of Hogwild! on the device: x ← x − γ wᵢ φ′ aᵢ for each row of the list, all teams at once on one x. Twin:
// src/gpu/twin/hogwild.rs, where one team is alone.
//
// A team has one row at a time. It reads x as it finds it and writes by `move_slot`: see lossy.wgsl, lossless.wgsl. The last slot is
// the constant c. Traffic: an entry (sparse: and its slot) twice, x anywhere, read and then written.
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(5) var<storage, read> marks: array<vec2<f32>>;

fn walk(row: u32, lane: u32, here: bool) -> f32 {
    var sum = 0.0;
    if here {
        for (var at = begin(row) + lane; at < past(row); at += TEAM) {
            sum += value(at) * bitcast<f32>(atomicLoad(&x[slot(at, row)]));
        }
    }
    return sum;
}

@compute @workgroup_size(GROUP)
fn main(seat: Seat) {
    let lane = lane_of(seat);
    for (var turn = 0u; turn < batch.turns; turn++) {
        let p = (turn * batch.groups + seat.group.x) * (GROUP / TEAM) + team_of(seat);
        let here = p < batch.count;
        let row = rows[batch.first + min(p, max(batch.count, 1u) - 1u)];
        let own = team_sum(vec4<f32>(walk(row, lane, here), 0.0, 0.0, 0.0), seat).x;
        let z = own + bitcast<f32>(atomicLoad(&x[batch.width]));
        let change = -batch.step * weighted(z, marks[row], here).y;
        if here && change != 0.0 {
            for (var at = begin(row) + lane; at < past(row); at += TEAM) {
                move_slot(slot(at, row), change * value(at));
            }
            if lane == 0u && batch.free == 1u {
                move_slot(batch.width, change);
            }
        }
        // Within a workgroup the next rows see what these wrote.
        storageBarrier();
    }
}
