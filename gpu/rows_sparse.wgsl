// Compressed rows (CSR): the entries of row i are starts[i]..starts[i + 1]; or columns likewise (CSC).
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> slots: array<u32>;

fn begin(row: u32) -> u32 {
    return starts[row];
}

fn past(row: u32) -> u32 {
    return starts[row + 1u];
}

fn slot(at: u32, row: u32) -> u32 {
    return slots[at];
}
