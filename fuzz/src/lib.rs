//! What every reader must do with every input: give a data set that keeps its promises or one message, never a panic,
//! and the same of the two wherever the text is cut and on however many threads.

use farrow::data::{Block, Data, Duplicates, Format, IndexBase, LabelColumn, ReadOptions, Shape, read_from};
use std::{io::Cursor, path::Path};

/// All that a data set holds, as bits; zeros that are stored are kept.
#[derive(Debug, PartialEq)]
pub struct Table {
    shape: Shape,
    rows: Vec<Vec<(u32, u32)>>,
    labels: Vec<u64>,
    weights: Option<Vec<u64>>,
}

/// Takes every block and holds it to what [`farrow::data::Source`] promises. Errors of blocks are passed on.
pub fn table(data: &Data) -> Result<Table, String> {
    let shape = data.source.shape();
    let mut rows = Vec::new();
    let mut entries = 0;
    for (index, span) in data.source.spans().iter().enumerate() {
        assert_eq!(span.first_row, rows.len());
        let block = data.source.take(index).map_err(|error| error.to_string())?;
        assert_eq!(block.rows(), span.rows);
        entries += span.nonzeros;
        match &block {
            Block::Sparse { starts, columns, values } => {
                assert!(!shape.dense && starts[0] == 0);
                assert_eq!(*starts.last().unwrap() as usize, columns.len());
                for ends in starts.windows(2) {
                    let range = ends[0] as usize..ends[1] as usize;
                    assert!(columns[range.clone()].is_sorted_by(|a, b| a < b));
                    assert!(columns[range.clone()].iter().all(|column| (*column as usize) < shape.columns));
                    let row = columns[range.clone()].iter().zip(&values[range]);
                    rows.push(row.map(|(column, value)| (*column, finite(*value))).collect());
                }
            }
            Block::Dense { columns, values } => {
                assert!(shape.dense && *columns == shape.columns);
                for row in values.chunks_exact(*columns) {
                    rows.push(row.iter().enumerate().map(|(j, value)| (j as u32, finite(*value))).collect());
                }
            }
        }
    }
    assert_eq!((shape.rows, shape.nonzeros), (rows.len(), entries));
    let labels: Vec<u64> =
        data.source.labels().map_err(|error| error.to_string())?.iter().map(|l| l.to_bits()).collect();
    assert_eq!(labels.len(), shape.rows);
    assert!(shape.rows > 0);
    let weights = data.weights.as_ref().map(|weights| weights.iter().map(|weight| weight.to_bits()).collect());
    Ok(Table { shape, rows, labels, weights })
}

fn finite(value: f32) -> u32 {
    assert!(value.is_finite());
    value.to_bits()
}

fn outcome(bytes: &[u8], options: &ReadOptions, threads: usize) -> Result<Table, String> {
    let stream = Cursor::new(bytes.to_vec());
    let data = read_from(stream, Path::new("input"), options, threads).map_err(|error| error.to_string())?;
    table(&data)
}

/// Reads `bytes` whole on one thread and in pieces on two, and sees that the two agree to the bit or to the letter.
/// The last byte chooses among the options.
pub fn check(bytes: &[u8], format: Option<Format>) {
    let choice = bytes.last().copied().unwrap_or(0);
    let bit = |k: u32| choice >> k & 1 == 1;
    let mut options = ReadOptions { format, unlabelled: true, ..ReadOptions::default() };
    if let Some(Format::Libsvm) = format {
        options.index_base = [None, Some(IndexBase::One), Some(IndexBase::Zero)][usize::from(choice) % 3];
        options.sort = bit(4);
    }
    if let Some(Format::Libsvm | Format::MatrixMarket) = format {
        options.duplicates = [Duplicates::Error, Duplicates::Sum, Duplicates::Last][usize::from(choice / 9) % 3];
    }
    if let Some(Format::Csv) = format {
        let columns = [None, Some(LabelColumn::Number(-1)), Some(LabelColumn::Name("y".into()))];
        options.label_column = columns[usize::from(choice / 3) % 3].clone();
        options.header = [None, Some(bit(5))][usize::from(bit(6))];
    }
    let whole = outcome(bytes, &options, 1);
    if format != Some(Format::Npy) {
        let cut = ReadOptions { slab_bytes: 1 + usize::from(choice) % 29, ..options };
        assert_eq!(whole, outcome(bytes, &cut, 2));
    }
}
