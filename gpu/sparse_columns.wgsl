// The gradient of all rows of a sparse slab, column by column (CSC) from their slopes: no atomics, one order. Twin:
// src/gpu/twin/sparse_columns.rs.
//
// Four columns a team. Traffic: an entry and its row once, a slope anywhere, once; 8 bytes a column.
@group(0) @binding(7) var<storage, read_write> gradient: array<f32>;
@group(0) @binding(8) var<storage, read> slopes: array<f32>;

fn walk(column: u32, lane: u32) -> f32 {
    var sum = 0.0;
    if column < batch.count {
        for (var at = begin(column) + lane; at < past(column); at += TEAM) {
            sum += value(at) * slopes[batch.first + slot(at, column)];
        }
    }
    return sum;
}

fn write(column: u32, sum: f32) {
    if column < batch.count {
        gradient[column] += sum;
    }
}

@compute @workgroup_size(GROUP)
fn main(seat: Seat) {
    let lane = lane_of(seat);
    for (var turn = 0u; turn < batch.turns; turn++) {
        let column = ((turn * batch.groups + seat.group.x) * (GROUP / TEAM) + team_of(seat)) * 4u;
        let own = vec4<f32>(walk(column, lane), walk(column + 1u, lane), walk(column + 2u, lane), walk(column + 3u, lane));
        let sum = team_sum(own, seat);
        if lane == 0u {
            write(column, sum.x);
            write(column + 1u, sum.y);
            write(column + 2u, sum.z);
            write(column + 3u, sum.w);
        }
    }
}
