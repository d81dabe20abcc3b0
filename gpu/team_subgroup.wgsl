// A team is a subgroup, which adds up without memory or barriers, in an order of its own. Only where every subgroup has TEAM
// invocations. Twin: src/gpu/twin/team.rs, whose order is another.
struct Seat {
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_id) team: u32,
    @builtin(subgroup_invocation_id) lane: u32,
}

fn team_of(seat: Seat) -> u32 {
    return seat.team;
}

fn lane_of(seat: Seat) -> u32 {
    return seat.lane;
}

fn team_sum(numbers: vec4<f32>, seat: Seat) -> vec4<f32> {
    return subgroupAdd(numbers);
}
