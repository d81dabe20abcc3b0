// Margins of rows that are walked through, an invocation every TEAM-th entry, four rows a team. Twin: src/gpu/twin/margins.rs.
//
// Traffic: an entry of each row (sparse: and its slot, and x anywhere) once; 4 bytes a row written.
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(6) var<storage, read> x: array<f32>;
@group(0) @binding(8) var<storage, read_write> margins: array<f32>;

fn walk(p: u32, lane: u32) -> f32 {
    var sum = 0.0;
    if p < batch.count {
        let row = rows[batch.first + p];
        for (var at = begin(row) + lane; at < past(row); at += TEAM) {
            sum += value(at) * x[slot(at, row)];
        }
    }
    return sum;
}

fn write(p: u32, margin: f32) {
    if p < batch.count {
        margins[batch.first + p] = margin;
    }
}

@compute @workgroup_size(GROUP)
fn main(seat: Seat) {
    let lane = lane_of(seat);
    for (var turn = 0u; turn < batch.turns; turn++) {
        let p = ((turn * batch.groups + seat.group.x) * (GROUP / TEAM) + team_of(seat)) * 4u;
        let own = vec4<f32>(walk(p, lane), walk(p + 1u, lane), walk(p + 2u, lane), walk(p + 3u, lane));
        let z = team_sum(own, seat) + batch.constant;
        if lane == 0u {
            write(p, z.x);
            write(p + 1u, z.y);
            write(p + 2u, z.z);
            write(p + 3u, z.w);
        }
    }
}
