// Rows of as many values as there are slots, padded to vectors of four: entry k of row i lies at 4 i stride + k.
fn begin(row: u32) -> u32 {
    return 4u * row * batch.stride;
}

fn past(row: u32) -> u32 {
    return begin(row) + batch.width;
}

fn slot(at: u32, row: u32) -> u32 {
    return at - begin(row);
}
