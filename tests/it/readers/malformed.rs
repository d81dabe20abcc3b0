//! Malformed files: each gives one clear message with the file, the line where there are lines, what was seen, what is
//! accepted; exit code 1.

use super::read;
use farrow::data::{Duplicates, Format, IndexBase, LabelColumn, ReadOptions};
use std::path::Path;

/// Name, content, beginning of the message, words that must be in it.
type Case = (&'static str, &'static [u8], &'static str, &'static str);

const LIBSVM: &[Case] = &[
    ("x", b"", "x: the file is empty", "row"),
    ("x", b"# nothing\n\n  \r\n", "x: no rows", "label index:value"),
    ("x", b"\x00\x01\x02", "x: binary content", "offset 0"),
    ("x", b"\xff\xfe1\x00 \x001\x00", "x: binary content", "UTF-8"),
    ("x", b"\x89PNG\r\n\x1a\n\xde\xad", "x:1: the label `\\x89PNG`", "finite number"),
    ("x", b"1 1:1\n1 2:nan\n", "x:2: the value in `2:nan`", "finite"),
    ("x", b"1 1:1\n1 2:Inf\n", "x:2: the value in `2:Inf`", "finite"),
    ("x", b"1 1:-inf\n", "x:1: the value in `1:-inf`", "finite"),
    ("x", b"nan 1:1\n", "x:1: the label `nan`", "finite"),
    ("x", b"+inf 1:1\n", "x:1: the label `+inf`", "finite"),
    ("x", b"1 1:1\r\n1 4294967296:1\r\n", "x:2: index 4294967296", "4294967295"),
    ("x", b"1 99999999999999999999:1\n", "x:1: `99999999999999999999:1`", "index"),
    ("x", b"1 1:1 5\n", "x:1: `5` has no colon", "index:value"),
    ("x", b"1 1: 5\n", "x:1: the value in `1:`", "number"),
    ("x", b"1 :5\n", "x:1: `:5` does not begin with an index", "index:value"),
    ("x", b"1 1:1\n\n1:5 2:5\n", "x:3: no label: the line begins with `1:5`", "label"),
    ("x", b"1,2 1:5\n", "x:1: `1,2` is not a label", "csv"),
    ("x", b"1 1:5 2:0.5.5\n", "x:1: the value in `2:0.5.5`", "blanks between"),
    ("x", b"1 1:5-3\n", "x:1: the value in `1:5-3`", "number"),
    ("x", b"1 1:0.5:2\n", "x:1: the value in `1:0.5:2`", "number"),
    ("x", b"1 1:0x10\n", "x:1: the value in `1:0x10`", "decimal"),
    ("x", b"1 1:1e\n", "x:1: the value in `1:1e`", "decimal"),
    ("x", b"1 1:1e39\n", "x:1: the value in `1:1e39` is too large", "3.4e38"),
    ("x", b"1 1:1e99999999999999999999\n", "x:1: the value in `1:1e99999999999999999999` is too large", "scale"),
    ("x", b"1e400 1:1\n", "x:1: the label `1e400`", "finite"),
    ("x", b"1 -3:1\n", "x:1: the index in `-3:1` is negative", "integer"),
    ("x", b"1 1.5:1\n", "x:1: `1.5:1`", "index"),
    ("x", b"1 a:1\n", "x:1: `a:1` does not begin with an index", "index"),
    ("x", b"one 1:1\n", "x:1: the label `one`", "label index:value"),
    ("x", b"1 2:1 1:1\n", "x:1: index 1 in `1:1` after index 2", "--sort"),
    ("x", b"1 2:1 2:1\n", "x:1: index 2 twice", "--duplicates"),
    ("x", b"1 qid:x 2:1\n", "x:1: `qid:x` is not a query number", "integer"),
    ("x", b"1 1:2 \xe2\x88\x92 3\n", "x:1: `\\xe2\\x88\\x92` has no colon", "index:value"),
    ("x.gz", b"\x1f\x8b\x08\x00", "x.gz: cannot be decompressed (gzip)", "gzip -t"),
    ("x.bz2", b"BZh91AY&SY", "x.bz2: cannot be decompressed (bzip2)", "bzip2 -t"),
    ("x.xz", b"\xfd7zXZ\x00\x00", "x.xz: cannot be decompressed (xz)", "xz -t"),
    ("x.zst", b"\x28\xb5\x2f\xfd\x04", "x.zst: cannot be decompressed (zstd)", "zstd -t"),
];

const CSV: &[Case] = &[
    ("x.csv", b"\n\n", "x.csv: no rows", "line"),
    ("x.csv", b"y,a,b\n", "x.csv: a header and no rows", "--no-header"),
    ("x.csv", b"1,2,3\n4,5\n", "x.csv:2: 2 cells in a row, 3 in the first line", "same number"),
    ("x.csv", b"1,2,3\n4,5,6,7\n", "x.csv:2: 4 cells", "same number"),
    ("x.csv", b"y,age\n1,2\n\n1,\n", "x.csv:4: no value in column `age`", "missing"),
    ("x.csv", b"1,2\n1,NA\n", "x.csv:2: `NA` in column 1", "finite"),
    ("x.csv", b"1,nan\n1,2\n", "x.csv:1: `nan` in column 1", "finite"),
    ("x.csv", b"1,inf\n", "x.csv:1: `inf` in column 1", "finite"),
    ("x.csv", b"y,a\n1,2\n?,2\n", "x.csv:3: `?` in column `y` (the label)", "finite"),
    ("x.csv", b"y,a\n1,1e39\n", "x.csv:2: `1e39` in column `a` is too large", "3.4e38"),
    ("x.csv", b"y,a\n1e999,1\n", "x.csv:2: `1e999` in column `y` (the label) is too large", "scale"),
    ("x.csv", b"y\n1\n2\n", "x.csv: one column only", "label"),
    ("x.csv", b"y,a\n1,1.2.3\n", "x.csv:2: `1.2.3` in column `a`", "finite"),
    ("x.csv", b"y,a\n1,\"2\n", "x.csv:2: a quote that is not closed", "ends with"),
];

const MATRIX_MARKET: &[Case] = &[
    ("x", b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "x:1: the banner", "real|integer"),
    ("x", b"%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 1\n", "x:1: the banner", "general"),
    ("x", b"%%MatrixMarket vector array real general\n1 1\n1\n", "x:1: the banner", "matrix"),
    ("x", b"%%MatrixMarket matrix array pattern general\n1 1\n1\n", "x:1: the banner", "pattern"),
    ("x", b"%%MatrixMarket matrix coordinate real general\n% only a remark\n", "x:3: no size line", "rows columns"),
    ("x", b"%%MatrixMarket matrix coordinate real general\n2 2\n1 1 1\n", "x:2: the size line `2 2`", "entries"),
    ("x", b"%%MatrixMarket matrix coordinate real general\n2 -2 1\n1 1 1\n", "x:2: the size line", "integers"),
    ("x", b"%%MatrixMarket matrix coordinate real general\n0 2 0\n", "x:2: a matrix of 0 rows", "at least 1"),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n99999999999 2 0\n",
        "x:2: a matrix of 99999999999 rows",
        "at most",
    ),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n",
        "x: 1 entries where the header says 2",
        "cut short",
    ),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n2 2 2\n",
        "x: 2 entries where",
        "size line",
    ),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n",
        "x:3: row 3 is not between 1 and 2",
        "from 1",
    ),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 0 1\n",
        "x:3: column 0 is not between",
        "from 1",
    ),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n% r\n1 1\n",
        "x:4: no finite number in `1 1`",
        "row column value",
    ),
    ("x", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n", "x:3: no finite number", "finite"),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e39\n",
        "x:3: a value that is too large",
        "3.4e38",
    ),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1 1\n",
        "x:3: something follows",
        "row column value",
    ),
    (
        "x",
        b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n",
        "x: the entry at row 1, column 1",
        "--duplicates",
    ),
    (
        "x",
        b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
        "x: 3 entries where the header says 4",
        "cut short",
    ),
    (
        "x",
        b"%%MatrixMarket matrix array real general\n1 1\n1 2\n",
        "x:3: something follows",
        "one finite number a line",
    ),
];

fn check(cases: &[Case], options: &ReadOptions) {
    for (name, bytes, start, word) in cases {
        for (threads, slab_bytes) in [(1, 1 << 20), (3, 1)] {
            let options = ReadOptions { slab_bytes, ..options.clone() };
            let shown = bytes.escape_ascii();
            let Err(error) = read(bytes, name, &options, threads) else { panic!("`{shown}` was read") };
            let message = error.to_string();
            assert!(message.starts_with(start), "`{shown}` gave: {message}");
            assert!(message.contains(word), "`{shown}` gave: {message}");
            assert_eq!(error.exit_code(), 1);
        }
    }
}

#[test]
fn every_malformed_libsvm_text_is_refused_with_its_line_and_a_remedy() {
    check(LIBSVM, &ReadOptions::default());
}

#[test]
fn every_malformed_csv_is_refused_with_its_line_and_column() {
    check(CSV, &ReadOptions::default());
}

#[test]
fn a_matrix_of_billions_of_empty_rows_is_not_believed_without_labels() {
    let text = b"%%MatrixMarket matrix coordinate real general\n4000000000 1 1\n1 1 1\n";
    check(&[("x", text, "x: no labels", "--labels")], &ReadOptions::default());
    let options = ReadOptions { unlabelled: true, ..ReadOptions::default() };
    check(&[("x", text, "x: 4000000000 rows of which at most 1", "size line")], &options);
}

#[test]
fn every_malformed_matrix_market_file_is_refused_with_its_line() {
    check(MATRIX_MARKET, &ReadOptions { unlabelled: true, ..ReadOptions::default() });
}

#[test]
fn a_forced_base_order_or_form_that_the_text_belies_is_refused() {
    let default = ReadOptions::default;
    let one = ReadOptions { index_base: Some(IndexBase::One), ..default() };
    check(&[("x", b"1 1:1\n1 0:1\n", "x:2: index 0 in `0:1`", "--index-base 0")], &one);
    let sort = ReadOptions { sort: true, ..default() };
    check(&[("x", b"1 2:1 1:1 2:3\n", "x:1: index 2 twice", "--duplicates")], &sort);
    let sum = ReadOptions { duplicates: Duplicates::Sum, ..default() };
    check(&[("x", b"1 2:1 1:1\n", "x:1: index 1 in `1:1` after index 2", "--sort")], &sum);
    check(&[("x", b"1 2:3e38 2:3e38\n", "x:1: the values of index 2 add up", "scale")], &sum);
    let format = |format| ReadOptions { format: Some(format), ..default() };
    check(&[("x", b"1,2\n", "x:1: `1,2` is not a label", "csv")], &format(Format::Libsvm));
    check(&[("x", b"1 1:2\n", "x: one column only", "comma")], &format(Format::Csv));
    check(&[("x", b"1 1:2\n", "x:1: the banner", "%%MatrixMarket")], &format(Format::MatrixMarket));
    check(&[("x", b"1 1:2\n", "x: no .npy header", "numpy.save")], &format(Format::Npy));
}

#[test]
fn a_label_column_that_is_not_there_is_refused_and_the_columns_are_listed() {
    let label = |column| ReadOptions { label_column: Some(column), ..ReadOptions::default() };
    let csv: &[u8] = b"y,a\n1,2\n";
    check(&[("x.csv", csv, "x.csv:1: no column `z`", "y, a")], &label(LabelColumn::Name("z".into())));
    check(&[("x.csv", csv, "x.csv: `--label-column 2`", "from 0")], &label(LabelColumn::Number(2)));
    check(&[("x.csv", csv, "x.csv: `--label-column -3`", "-1 is the last")], &label(LabelColumn::Number(-3)));
    check(&[("x.csv", csv, "x.csv: `--label-column none`", "where the labels are")], &label(LabelColumn::None));
    check(&[("x.csv", b"1,2\n", "x.csv:1: `--label-column y`", "number")], &label(LabelColumn::Name("y".into())));
}

#[test]
fn files_of_labels_and_weights_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let cases = [
        ("labels", "1\n", ": 1 labels for 2 rows of data"),
        ("labels", "1\n2\n3\n", ": 3 labels for 2 rows of data"),
        ("labels", "1\n\ntwo\n", ":3: the label `two` is not one finite number"),
        ("labels", "1 2\n", ":1: the label `1 2` is not one finite number"),
        ("weights", "1\nnan\n", ":2: the weight `nan`"),
        ("weights", "1\n-2\n", ": weight -2 of row 2"),
        ("weights", "0\n1\n", ": weight 0 of row 1"),
        ("weights", "", ": 0 weights for 2 rows of data"),
    ];
    for (kind, content, right) in cases {
        let path = save(kind, content);
        let mut options = ReadOptions::default();
        *(if kind == "labels" { &mut options.labels } else { &mut options.weights }) = Some(path.clone());
        let message = read(b"1 1:1\n2 2:1\n", "x", &options, 2).err().expect(right).to_string();
        assert!(message.starts_with(&format!("{}{right}", path.display())), "{message}");
    }
    let missing = ReadOptions { labels: Some(folder.path().join("nothing")), ..ReadOptions::default() };
    assert!(read(b"1 1:1\n", "x", &missing, 1).err().unwrap().to_string().contains("cannot read"));
}

#[test]
fn every_malformed_npy_is_refused() {
    let npy = |header: &str, data: &[u8]| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16 + 1).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.push(b'\n');
        bytes.extend_from_slice(data);
        bytes
    };
    let header = |descr: &str, fortran: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}")
    };
    let four = [0u8; 16];
    let nan = [f32::NAN.to_le_bytes(), 1f32.to_le_bytes()].concat();
    let options = ReadOptions { unlabelled: true, ..ReadOptions::default() };
    let huge = 1e39f64.to_le_bytes();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"\x93NUMPY".to_vec(), "no .npy header"),
        (b"\x93NUMPY\x01\x00\xff\xff".to_vec(), "no .npy header"),
        (b"\x93NUMPY\x09\x00\x02\x00\x00\x00{}".to_vec(), "a bad .npy header"),
        (npy("{}", &[]), "a bad .npy header"),
        (npy(&"(".repeat(60_000), &[]), "no .npy header"),
        (npy(&header("<c8", "False", "(2, 1)"), &four), "elements of type '<c8'"),
        (npy(&header("<U2", "False", "(2, 1)"), &four), "elements of type '<U2'"),
        (npy(&header("|O", "False", "(2, 1)"), &four), "elements of type '|O'"),
        (npy(&header("<f4", "False", "(4,)"), &four), "an array of 1 dimensions"),
        (npy(&header("<f4", "False", "(2, 2, 1)"), &four), "an array of 3 dimensions"),
        (npy(&header("<f4", "False", "(2, 3)"), &four), "the file ends before"),
        (npy(&header("<f4", "True", "(2, 3)"), &four), "the file ends before"),
        (npy(&header("<f4", "False", "(1, 1)"), &four), "bytes follow"),
        (npy(&header("<f4", "False", "(0, 3)"), &[]), "a matrix of 0 rows"),
        (npy(&header("<f4", "False", "(3, 0)"), &[]), "and 0 columns"),
        (npy(&header("<f8", "False", "(4000000000000, 4000000000)"), &four), "the file ends before"),
        (npy(&header("<f8", "True", "(18446744073709551615, 4000000000)"), &four), "the file ends before"),
        (npy(&header("<f4", "False", "(1, 2)"), &nan), "NaN at row 0, column 0"),
        (npy(&header("<f8", "False", "(1, 1)"), &huge), "at row 0, column 0"),
    ];
    for (bytes, right) in cases {
        let message = read(&bytes, "x", &options, 1).err().expect(right).to_string();
        assert!(message.starts_with("x: ") && message.contains(right), "{right}: {message}");
    }
    assert!(read(&npy(&header("<f4", "False", "(2, 2)"), &four), "x", &options, 1).is_ok());
}

#[test]
fn compressed_text_that_is_cut_short_is_an_error_and_never_fewer_rows() {
    use std::io::Write;
    let text = "1 1:0.123 2:0.5 7:1\n".repeat(50_000);
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let xz = {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let bzip2 = {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = zstd::stream::encode_all(text.as_bytes(), 1).unwrap();
    for (name, whole) in [("gzip", gzip), ("bzip2", bzip2), ("xz", xz), ("zstd", zstd)] {
        let rows = |bytes: &[u8]| read(bytes, "x", &ReadOptions::default(), 2).map(|data| data.source.shape().rows);
        assert_eq!(rows(&whole).unwrap(), 50_000, "{name}");
        for cut in [8, whole.len() / 2, whole.len() - 1] {
            let message = rows(&whole[..cut]).expect_err(name).to_string();
            assert!(
                message.contains("cannot be decompressed") && message.contains(name),
                "{name} {cut}: {message}"
            );
        }
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 0x55;
        assert!(rows(&flipped).is_err() || name == "zstd", "{name}: a flipped byte was not seen");
    }
}

#[test]
fn a_folder_or_a_file_that_is_not_there_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), &folder.path().join("nothing"), Path::new("/proc/self/mem")] {
        let error = farrow::data::read(path, &ReadOptions::default(), 2).err().expect("no data");
        assert!(error.to_string().starts_with(&format!("cannot read {}: ", path.display())), "{error}");
        assert_eq!(error.exit_code(), 1);
    }
}

#[test]
fn an_option_that_means_nothing_for_the_form_at_hand_is_refused_and_never_passed_over() {
    let default = ReadOptions::default;
    let cases = [
        ("--index-base", ReadOptions { index_base: Some(IndexBase::One), ..default() }),
        ("--sort", ReadOptions { sort: true, ..default() }),
        ("--duplicates", ReadOptions { duplicates: Duplicates::Sum, ..default() }),
    ];
    for (flag, options) in cases {
        let error = read(b"1,2\n", "x.csv", &options, 1).err().expect(flag);
        assert!(error.to_string().starts_with(&format!("{flag}: x.csv is read as CSV")), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
    let cases = [
        ("--label-column", ReadOptions { label_column: Some(LabelColumn::Number(0)), ..default() }),
        ("--header", ReadOptions { header: Some(false), ..default() }),
    ];
    for (flag, options) in cases {
        let error = read(b"1 1:2\n", "x", &options, 1).err().expect(flag);
        assert!(error.to_string().starts_with(flag) && error.to_string().contains("LIBSVM text"), "{error}");
    }
}
