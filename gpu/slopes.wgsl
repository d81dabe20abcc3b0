// From margins to slopes wᵢ φ′ in their place, and the sums of wᵢ φ and wᵢ φ′, a partial sum a workgroup. Twin:
// src/gpu/twin/slopes.rs. Compiled with a team that is the whole workgroup.
//
// Traffic: 8 bytes a row read and written, and 12 of its number and marks read.
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(5) var<storage, read> marks: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> partials: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> margins: array<f32>;

@compute @workgroup_size(GROUP)
fn main(seat: Seat) {
    var sums = vec2<f32>();
    for (var turn = 0u; turn < batch.turns; turn++) {
        let p = (turn * batch.groups + seat.group.x) * GROUP + seat.index;
        if p < batch.count {
            let at = batch.first + p;
            let of_row = weighted(margins[at], marks[rows[at]], true);
            margins[at] = of_row.y;
            sums += of_row;
        }
    }
    let sum = team_sum(vec4<f32>(sums, 0.0, 0.0), seat);
    if seat.index == 0u {
        partials[seat.group.x] = sum;
    }
}
