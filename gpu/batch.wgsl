// What a dispatch is told. The same 48 bytes as `Block` of src/gpu/device/block.rs.
struct Batch {
    count: u32,      // rows of the list, or columns
    first: u32,      // where the list starts among all lists
    turns: u32,      // turns that each workgroup takes
    groups: u32,     // workgroups that share the rows
    stride: u32,     // vectors of four a dense row, or a partial sum, has
    width: u32,      // slots
    target_first: u32, // reduce: the first vector of the result that it adds to
    free: u32,       // hogwild: 1 where the constant moves
    constant: f32,   // c
    delta: f32,      // Huber's
    step: f32,       // hogwild: step length
    unused: f32,
}
@group(0) @binding(0) var<uniform> batch: Batch;
