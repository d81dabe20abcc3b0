// The gradient of a batch of sparse rows (CSR), added slot by slot as rows come. Twin: src/gpu/twin/sparse.rs.
//
// Four rows a team: their margins, then each entry times its row's slope is added to its slot. Traffic: an entry and its slot
// twice, the second time mostly from a cache; x anywhere, once; a slot of the gradient anywhere, atomically.
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(5) var<storage, read> marks: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read> x: array<f32>;
@group(0) @binding(7) var<storage, read_write> partials: array<vec4<f32>>;

var<workgroup> pool: array<vec4<f32>, GROUP>;

fn walk(row: u32, lane: u32, here: bool) -> f32 {
    var sum = 0.0;
    if here {
        for (var at = begin(row) + lane; at < past(row); at += TEAM) {
            sum += value(at) * x[slot(at, row)];
        }
    }
    return sum;
}

fn scatter(row: u32, lane: u32, slope: f32) {
    if slope != 0.0 {
        for (var at = begin(row) + lane; at < past(row); at += TEAM) {
            add(slot(at, row), slope * value(at));
        }
    }
}

@compute @workgroup_size(GROUP)
fn main(seat: Seat) {
    let team = team_of(seat);
    let lane = lane_of(seat);
    var sums = vec2<f32>();
    for (var turn = 0u; turn < batch.turns; turn++) {
        let p = ((turn * batch.groups + seat.group.x) * (GROUP / TEAM) + team) * 4u;
        let positions = vec4<u32>(p, p + 1u, p + 2u, p + 3u);
        let here = positions < vec4<u32>(batch.count);
        let at = batch.first + min(positions, vec4<u32>(max(batch.count, 1u) - 1u));
        let row = vec4<u32>(rows[at.x], rows[at.y], rows[at.z], rows[at.w]);
        let own = vec4<f32>(
            walk(row.x, lane, here.x),
            walk(row.y, lane, here.y),
            walk(row.z, lane, here.z),
            walk(row.w, lane, here.w),
        );
        let z = team_sum(own, seat) + batch.constant;
        let first = weighted(z.x, marks[row.x], here.x);
        let second = weighted(z.y, marks[row.y], here.y);
        let third = weighted(z.z, marks[row.z], here.z);
        let fourth = weighted(z.w, marks[row.w], here.w);
        scatter(row.x, lane, first.y);
        scatter(row.y, lane, second.y);
        scatter(row.z, lane, third.y);
        scatter(row.w, lane, fourth.y);
        sums += first;
        sums += second;
        sums += third;
        sums += fourth;
    }
    if lane == 0u {
        pool[team] = vec4<f32>(sums, 0.0, 0.0);
    }
    workgroupBarrier();
    if team == 0u && lane == 0u {
        var sum = vec4<f32>();
        for (var k = 0u; k < GROUP / TEAM; k++) {
            sum += pool[k];
        }
        partials[seat.group.x] = sum;
    }
}
