// The gradient of a batch of dense rows, each read once. Twin: src/gpu/twin/dense.rs.
//
// A team holds four rows in registers, sixteen entries an invocation; it adds up their margins, and adds the slopes times the
// same registers to a gradient that it keeps in registers over all its turns. At the end the teams of a workgroup are added, and
// each workgroup writes one partial gradient with its sums behind it.
//
// Traffic: 4 stride vectors a row, neighbouring invocations reading neighbouring vectors; x once a workgroup.
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(5) var<storage, read> marks: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> partials: array<vec4<f32>>;

var<workgroup> pool: array<vec4<f32>, GROUP>;

fn quad_within(first: u32, at: u32, end: u32) -> vec4<f32> {
    if at < end {
        return quad(first + at);
    }
    return vec4<f32>();
}

// Vectors `lane`, `lane` + TEAM, … of a row; `end` is 0 for a row past the end of the list.
fn held(first: u32, lane: u32, end: u32) -> mat4x4<f32> {
    return mat4x4<f32>(
        quad_within(first, lane, end),
        quad_within(first, lane + TEAM, end),
        quad_within(first, lane + 2u * TEAM, end),
        quad_within(first, lane + 3u * TEAM, end),
    );
}

fn x_within(at: u32) -> vec4<f32> {
    if at < batch.stride {
        return x[at];
    }
    return vec4<f32>();
}

fn products(a: mat4x4<f32>, b: mat4x4<f32>) -> f32 {
    let t = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    return (t.x + t.y) + (t.z + t.w);
}

// Adds the teams' vectors number `part` and writes them; all of the workgroup calls it.
fn write(part: u32, mine: vec4<f32>, seat: Seat) {
    let lane = lane_of(seat);
    pool[team_of(seat) * TEAM + lane] = mine;
    workgroupBarrier();
    let at = part * TEAM + lane;
    if team_of(seat) == 0u && at < batch.stride {
        var sum = vec4<f32>();
        for (var team = 0u; team < GROUP / TEAM; team++) {
            sum += pool[team * TEAM + lane];
        }
        partials[seat.group.x * (batch.stride + 1u) + at] = sum;
    }
    workgroupBarrier();
}

@compute @workgroup_size(GROUP)
fn main(seat: Seat) {
    let team = team_of(seat);
    let lane = lane_of(seat);
    let point = mat4x4<f32>(x_within(lane), x_within(lane + TEAM), x_within(lane + 2u * TEAM), x_within(lane + 3u * TEAM));
    var gradient = mat4x4<f32>();
    var sums = vec2<f32>();
    for (var turn = 0u; turn < batch.turns; turn++) {
        let p = ((turn * batch.groups + seat.group.x) * (GROUP / TEAM) + team) * 4u;
        let here = vec4<u32>(p, p + 1u, p + 2u, p + 3u) < vec4<u32>(batch.count);
        let last = max(batch.count, 1u) - 1u;
        let at = batch.first + min(vec4<u32>(p, p + 1u, p + 2u, p + 3u), vec4<u32>(last));
        let row = vec4<u32>(rows[at.x], rows[at.y], rows[at.z], rows[at.w]);
        let end = select(vec4<u32>(0u), vec4<u32>(batch.stride), here);
        let a = held(row.x * batch.stride, lane, end.x);
        let b = held(row.y * batch.stride, lane, end.y);
        let c = held(row.z * batch.stride, lane, end.z);
        let d = held(row.w * batch.stride, lane, end.w);
        let own = vec4<f32>(products(a, point), products(b, point), products(c, point), products(d, point));
        let z = team_sum(own, seat) + batch.constant;
        let first = weighted(z.x, marks[row.x], here.x);
        let second = weighted(z.y, marks[row.y], here.y);
        let third = weighted(z.z, marks[row.z], here.z);
        let fourth = weighted(z.w, marks[row.w], here.w);
        gradient += first.y * a;
        gradient += second.y * b;
        gradient += third.y * c;
        gradient += fourth.y * d;
        sums += first;
        sums += second;
        sums += third;
        sums += fourth;
    }
    write(0u, gradient[0], seat);
    write(1u, gradient[1], seat);
    write(2u, gradient[2], seat);
    write(3u, gradient[3], seat);
    if lane == 0u {
        pool[team] = vec4<f32>(sums, 0.0, 0.0);
    }
    workgroupBarrier();
    if team == 0u && lane == 0u {
        var sum = vec4<f32>();
        for (var k = 0u; k < GROUP / TEAM; k++) {
            sum += pool[k];
        }
        partials[seat.group.x * (batch.stride + 1u) + batch.stride] = sum;
    }
}
