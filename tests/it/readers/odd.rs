//! Odd but valid files.

use super::{good, read, table};
use farrow::data::{Duplicates, Format, IndexBase, LabelColumn, ReadOptions, from_dense, from_rows};
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn libsvm_text_is_read_in_all_its_variants() {
    let text = "# made by hand\r\n+1 qid:3 1:0.5 3:-2e-1 # a remark\r\n\r\n-1\t2:+1E2 \r\n  0.25\n1 1:.5 2:3. 3:-0";
    let table = good(text.as_bytes(), "x.svm", &ReadOptions::default());
    assert_eq!(table.labels, [1.0, -1.0, 0.25, 1.0]);
    let rows = [vec![(0, 0.5), (2, -0.2)], vec![(1, 100.0)], vec![], vec![(0, 0.5), (1, 3.0), (2, 0.0)]];
    assert_eq!(table.rows, rows);
    assert_eq!((table.shape.columns, table.shape.nonzeros), (3, 6));
}

#[test]
fn columns_are_numbered_from_zero_if_an_index_zero_occurs_anywhere_or_it_is_said_so() {
    let base = |base| ReadOptions { index_base: base, slab_bytes: 4, ..ReadOptions::default() };
    let columns = |text: &str, options| good(text.as_bytes(), "x", &options).rows[0][0].0;
    assert_eq!(columns("1 1:1 2:1\n1 1:1\n", base(None)), 0);
    assert_eq!(columns("1 1:1 2:1\n1 0:1\n", base(None)), 1);
    assert_eq!(columns("1 1:1 2:1\n", base(Some(IndexBase::Zero))), 1);
    assert_eq!(columns("1 1:1 2:1\n", base(Some(IndexBase::One))), 0);
    let largest = good(b"1 1:1 4294967295:1\n", "x", &base(None));
    assert_eq!(largest.shape.columns, 4_294_967_295);
    assert_eq!(good(b"1 0:1 4294967295:1\n", "x", &base(None)).shape.columns, 4_294_967_296);
}

#[test]
fn unsorted_and_repeated_indices_are_mended_where_that_is_asked() {
    let options = |sort, duplicates| ReadOptions { sort, duplicates, ..ReadOptions::default() };
    let row = |text: &str, options| good(text.as_bytes(), "x", &options).rows[0].clone();
    assert_eq!(row("1 3:3 1:1 2:2\n", options(true, Duplicates::Error)), [(0, 1.0), (1, 2.0), (2, 3.0)]);
    assert_eq!(row("1 3:3 3:4\n", options(false, Duplicates::Sum)), [(2, 7.0)]);
    assert_eq!(row("1 3:3 1:1 3:4\n", options(true, Duplicates::Last)), [(0, 1.0), (2, 4.0)]);
}

#[test]
fn a_line_of_a_million_columns_is_one_row() {
    let mut text = b"1".to_vec();
    (1..=1_000_000).for_each(|j| write!(text, " {j}:{}", j % 7).unwrap());
    let table = good(&text, "x", &ReadOptions { slab_bytes: 1 << 16, ..ReadOptions::default() });
    assert_eq!(table.shape.nonzeros, 1_000_000);
    assert!(table.rows[0].iter().enumerate().all(|(j, entry)| *entry == (j as u32, ((j + 1) % 7) as f32)));
    let mut text = b"y".to_vec();
    (0..1_000_000).for_each(|j| write!(text, ",x{j}").unwrap());
    text.extend_from_slice(b"\n1");
    (0..1_000_000).for_each(|j| write!(text, ",{}", j % 7).unwrap());
    let table = good(&text, "x.csv", &ReadOptions { slab_bytes: 1 << 16, ..ReadOptions::default() });
    assert_eq!((table.shape.rows, table.shape.columns, table.labels[0]), (1, 1_000_000, 1.0));
    assert_eq!(table.rows[0][5], (6, 6.0));
}

#[test]
fn compressed_files_are_told_by_content_and_may_consist_of_several_streams() {
    let (first, second) = (b"1 1:1\n1 2:2\n1 3".as_slice(), b":3\n-1 4:4\n".as_slice());
    let whole = good(&[first, second].concat(), "x", &ReadOptions::default());
    let zstd = |bytes| zstd::stream::encode_all(bytes, 1).unwrap();
    for (name, pair) in [
        ("gzip", [gzip(first), gzip(second)]),
        ("bzip2", [bzip2(first), bzip2(second)]),
        ("xz", [xz(first), xz(second)]),
        ("zstd", [zstd(first), zstd(second)]),
    ] {
        assert_eq!(good(&pair.concat(), "no-ending", &ReadOptions::default()), whole, "{name}");
    }
    assert_eq!(whole.rows[2], [(2, 3.0)]);
    let table = good(&gzip(b"1,2\n3,4\n"), "x.csv.gz", &ReadOptions::default());
    assert_eq!(table.labels, [1.0, 3.0]);
    let table = good(&bzip2(b"1,2\n3,4\n"), "x.csv.bz2", &ReadOptions::default());
    assert_eq!(table.labels, [1.0, 3.0]);
    let message = read(b"BZh9 is no magic number\n", "x", &ReadOptions::default(), 1).err().unwrap().to_string();
    assert!(message.contains("x:1"), "text that begins like a compressed file is text: {message}");
}

#[test]
fn csv_takes_its_label_from_the_first_column_or_from_the_one_named() {
    let text = b"\xef\xbb\xbf\"age, in years\",y,z\r\n1,2,3\r\n\r\n\"4\", 5 ,-6e-1\r\n";
    let label = |column| ReadOptions { label_column: column, ..ReadOptions::default() };
    let labels = |column| good(text, "x.csv", &label(column)).labels;
    assert_eq!(labels(None), [1.0, 4.0]);
    assert_eq!(labels(Some(LabelColumn::Name("y".into()))), [2.0, 5.0]);
    assert_eq!(labels(Some(LabelColumn::Name("age, in years".into()))), [1.0, 4.0]);
    assert_eq!(labels(Some(LabelColumn::Number(1))), [2.0, 5.0]);
    assert_eq!(labels(Some(LabelColumn::Number(-1))), [3.0, -0.6]);
    let table = good(text, "x.csv", &label(Some(LabelColumn::Number(1))));
    assert_eq!(table.rows, [vec![(0, 1.0), (1, 3.0)], vec![(0, 4.0), (1, -0.6)]]);
    assert!(table.shape.dense && table.shape.nonzeros == 4);
}

#[test]
fn csv_without_a_header_with_semicolons_or_tabs_or_forced_is_read() {
    let read = |text: &str, options: &ReadOptions| good(text.as_bytes(), "x", options);
    let default = ReadOptions::default();
    for text in ["1,2.5,3\n4,5,6", "1;2.5;3\n4;5;6\n", "1\t2.5\t3\n4\t5\t6\n"] {
        let table = read(text, &default);
        assert_eq!((table.labels, table.shape.rows), (vec![1.0, 4.0], 2), "{text:?}");
    }
    let forced = ReadOptions { header: Some(true), format: Some(Format::Csv), ..default.clone() };
    assert_eq!(read("1,2\n3,4\n", &forced).labels, [3.0]);
    let none = ReadOptions { label_column: Some(LabelColumn::None), unlabelled: true, ..default };
    let table = read("1,2\n3,4\n", &none);
    assert!(table.shape.columns == 2 && table.labels.iter().all(|label| label.is_nan()));
}

#[test]
fn a_quoted_cell_may_hold_a_line_end_and_lines_still_count() {
    let text = "\"two\nlines\",x\n\"1\n\",2\n3,4\n5,six\n";
    for slab_bytes in [1, 5, 1 << 20] {
        let options = ReadOptions { slab_bytes, ..ReadOptions::default() };
        let message = read(text.as_bytes(), "x.csv", &options, 3).err().unwrap().to_string();
        assert!(message.starts_with("x.csv:6: `six` in column `x`"), "{slab_bytes}: {message}");
    }
}

#[test]
fn a_byte_order_mark_between_lines_is_no_part_of_a_number_wherever_the_text_is_cut() {
    for slab_bytes in [1, 5, 1 << 20] {
        let options = ReadOptions { slab_bytes, ..ReadOptions::default() };
        let message = read(b"2.2,3\n\xef\xbb\xbf4,5\n", "x.csv", &options, 3).err().unwrap().to_string();
        assert!(message.starts_with("x.csv:2: `\\xef\\xbb\\xbf4` in column 0"), "{slab_bytes}: {message}");
    }
}

#[test]
fn matrix_market_entries_in_any_order_become_sorted_rows() {
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels");
    std::fs::write(&labels, "1\n\n-1\n# remark\n2.5\n").unwrap();
    let options = ReadOptions { labels: Some(labels.clone()), slab_bytes: 9, ..ReadOptions::default() };
    let text =
        "%%MatrixMarket matrix coordinate real general\n% remark\n\n 3 4 4 \n3 1 5\r\n1 4 -1e0\n\n3 4 2\n1 2 .5\n";
    let sparse = good(text.as_bytes(), "x", &options);
    assert_eq!(sparse.rows, [vec![(1, 0.5), (3, -1.0)], vec![], vec![(0, 5.0), (3, 2.0)]]);
    assert_eq!((sparse.shape.columns, sparse.labels.as_slice()), (4, [1.0, -1.0, 2.5].as_slice()));
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n3 2 2\n2 2\n2 1\n";
    assert_eq!(good(pattern.as_bytes(), "x", &options).rows[1], [(0, 1.0), (1, 1.0)]);
    let array = "%%MatrixMarket matrix array integer general\n3 2\n1\n2\n3\n4\n5\n6\n";
    let dense = good(array.as_bytes(), "x", &options);
    assert_eq!(dense.rows, [vec![(0, 1.0), (1, 4.0)], vec![(0, 2.0), (1, 5.0)], vec![(0, 3.0), (1, 6.0)]]);
    let twice = "%%MatrixMarket matrix coordinate real general\n3 2 3\n2 2 1\n2 1 7\n2 2 4\n";
    for (duplicates, right) in [(Duplicates::Sum, 5.0), (Duplicates::Last, 4.0)] {
        let options = ReadOptions { duplicates, ..options.clone() };
        assert_eq!(good(twice.as_bytes(), "x", &options).rows, [vec![], vec![(0, 7.0), (1, right)], vec![]]);
    }
}

#[test]
fn npy_in_c_and_fortran_order_single_and_double_is_the_same_matrix() {
    use ndarray::{Array1, Array2, ShapeBuilder};
    use ndarray_npy::WriteNpyExt;
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels.npy");
    ndarray_npy::write_npy(&labels, &Array1::from(vec![1i64, -1, 1])).unwrap();
    let options = ReadOptions { labels: Some(labels), ..ReadOptions::default() };
    let entry = |(i, j): (usize, usize)| 10.0 * i as f64 + j as f64 + 0.25;
    let save = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        write(&mut bytes);
        good(&bytes, "x", &options)
    };
    let double = save(&|bytes| Array2::from_shape_fn((3, 2), entry).write_npy(bytes).unwrap());
    let fortran = save(&|bytes| Array2::from_shape_fn((3, 2).f(), entry).write_npy(bytes).unwrap());
    let single = save(&|bytes| Array2::from_shape_fn((3, 2), |at| entry(at) as f32).write_npy(bytes).unwrap());
    assert_eq!(double.rows[2], [(0, 20.25), (1, 21.25)]);
    assert_eq!(double.labels, [1.0, -1.0, 1.0]);
    assert_eq!(double, fortran);
    assert_eq!(double, single);
}

#[test]
fn rows_in_memory_are_a_data_set_too() {
    let rows = [vec![(0u32, 1.0f32), (4, 2.0)], vec![], vec![(1, -1.0)]];
    let sparse = table(&from_rows(&rows, &[1.0, 2.0, 3.0], 3).unwrap());
    assert_eq!((sparse.shape.columns, sparse.shape.nonzeros), (5, 3));
    assert_eq!(sparse.rows, rows);
    let matrix = ndarray::array![[1.0f32, 0.0], [0.0, 2.0]];
    let dense = table(&from_dense(matrix.t(), &[1.0, -1.0]).unwrap());
    assert_eq!(dense.rows, [vec![(0, 1.0)], vec![(1, 2.0)]]);
    assert!(dense.shape.dense);
    assert!(from_rows(&[vec![(1, 1.0), (1, 2.0)]], &[1.0], 0).is_err());
    assert!(from_rows(&[vec![(1, f32::NAN)]], &[1.0], 0).is_err());
    assert!(from_rows(&rows, &[1.0], 0).is_err());
    assert!(from_dense(ndarray::array![[f32::INFINITY]].view(), &[1.0]).is_err());
}

#[test]
fn a_parsed_block_is_given_away_once() {
    let data = read(b"1 1:1\n", "x", &ReadOptions::default(), 1).unwrap();
    assert!(data.source.take(0).is_ok());
    assert!(data.source.take(0).unwrap_err().to_string().contains("already taken"));
}

#[test]
fn the_mapped_form_is_told_by_content_and_takes_labels_weights_and_columns_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.txt");
    let text = good(b"1 1:0.5 3:2\n-1 2:4\n", "x", &ReadOptions::default());
    let data = read(b"1 1:0.5 3:2\n-1 2:4\n", "x", &ReadOptions::default(), 1).unwrap();
    farrow::data::mapped::write(&path, &*data.source, &[1.0, -1.0], Some(&[2.0, 3.0]), &mut |_| {}).unwrap();
    let mapped = farrow::data::read(&path, &ReadOptions::default(), 2).unwrap();
    assert_eq!(mapped.weights.as_deref(), Some([2.0, 3.0].as_slice()));
    assert_eq!(table(&mapped), text);
    let (labels, weights) = (folder.path().join("labels"), folder.path().join("weights"));
    std::fs::write(&labels, "7\n8\n").unwrap();
    std::fs::write(&weights, "0.5\n0.25\n").unwrap();
    let options =
        ReadOptions { labels: Some(labels), weights: Some(weights), columns: Some(9), ..ReadOptions::default() };
    let other = farrow::data::read(&path, &options, 2).unwrap();
    assert_eq!(other.weights.as_deref(), Some([0.5, 0.25].as_slice()));
    let other = table(&other);
    assert_eq!((other.labels, other.shape.columns, other.rows), (vec![7.0, 8.0], 9, text.rows));
    let compressed = folder.path().join("data.gz");
    std::fs::write(&compressed, gzip(&std::fs::read(&path).unwrap())).unwrap();
    let message = farrow::data::read(&compressed, &ReadOptions::default(), 1).err().unwrap().to_string();
    assert!(message.contains("decompress it"), "{message}");
}

#[test]
fn at_least_the_columns_asked_for_are_there_and_dense_data_must_have_them() {
    let options = ReadOptions { columns: Some(5), ..ReadOptions::default() };
    assert_eq!(good(b"1 1:1\n", "x", &options).shape.columns, 5);
    assert_eq!(good(b"1 7:1\n", "x", &options).shape.columns, 7);
    let message = read(b"1,2\n", "x.csv", &options, 1).err().unwrap().to_string();
    assert!(message.contains("1 columns of values where 5 are wanted"), "{message}");
}
