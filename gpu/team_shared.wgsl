// A team of TEAM neighbouring invocations, which adds up through workgroup memory. Twin: src/gpu/twin/team.rs.
struct Seat {
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
}

var<workgroup> team_first: array<vec4<f32>, GROUP>;
var<workgroup> team_second: array<vec4<f32>, GROUP / TEAM * FAN>;

fn team_of(seat: Seat) -> u32 {
    return seat.index / TEAM;
}

fn lane_of(seat: Seat) -> u32 {
    return seat.index % TEAM;
}

// Σ over a team of four numbers each, to all of it: FAN sums of every FAN-th, then these one after the other. A barrier after
// each level; what the next call writes, nobody reads any more.
fn team_sum(numbers: vec4<f32>, seat: Seat) -> vec4<f32> {
    let base = team_of(seat);
    let lane = lane_of(seat);
    team_first[seat.index] = numbers;
    workgroupBarrier();
    if lane < FAN {
        var sum = vec4<f32>();
        for (var k = lane; k < TEAM; k += FAN) {
            sum += team_first[base * TEAM + k];
        }
        team_second[base * FAN + lane] = sum;
    }
    workgroupBarrier();
    var sum = vec4<f32>();
    for (var k = 0u; k < FAN; k++) {
        sum += team_second[base * FAN + k];
    }
    return sum;
}
