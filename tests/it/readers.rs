//! Readers: what they make of good, odd and bad files.

mod malformed;
mod odd;
mod published;
mod round_trip;

use farrow::data::{Block, Data, ReadOptions, Shape, read_from};
use farrow::error::Result;
use std::{io::Cursor, path::Path};

/// Reads `bytes` under `name` with a slab of `slab_bytes` on `threads` threads.
fn read(bytes: &[u8], name: &str, options: &ReadOptions, threads: usize) -> Result<Data> {
    read_from(Cursor::new(bytes.to_vec()), Path::new(name), options, threads)
}

/// Columns and values of every row, zeros of dense rows left out; labels.
#[derive(Debug, PartialEq)]
struct Table {
    shape: Shape,
    rows: Vec<Vec<(u32, f32)>>,
    labels: Vec<f64>,
}

/// Everything a data set holds, and that its spans tell the truth.
fn table(data: &Data) -> Table {
    let mut rows = Vec::new();
    for (index, span) in data.source.spans().iter().enumerate() {
        assert_eq!(span.first_row, rows.len());
        let block = data.source.take(index).expect("a block");
        assert_eq!(span.rows, block.rows());
        match &block {
            Block::Sparse { starts, columns, values } => {
                assert_eq!(span.nonzeros as usize, values.len());
                assert_eq!(columns.len(), values.len());
                for ends in starts.windows(2) {
                    let range = ends[0] as usize..ends[1] as usize;
                    rows.push(columns[range.clone()].iter().copied().zip(values[range].iter().copied()).collect());
                }
            }
            Block::Dense { columns, values } => {
                for row in values.chunks_exact(*columns) {
                    let entries = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
                    rows.push(entries.map(|(column, value)| (column as u32, *value)).collect());
                }
            }
        }
    }
    let shape = data.source.shape();
    assert_eq!(shape.rows, rows.len());
    Table { shape, rows, labels: data.source.labels().expect("labels") }
}

fn good(bytes: &[u8], name: &str, options: &ReadOptions) -> Table {
    let data = read(bytes, name, options, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
    table(&data)
}
