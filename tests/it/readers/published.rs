//! Files of the LIBSVM collection, against the sizes that their sources state.

use super::table;
use farrow::data::{ReadOptions, read};

#[test]
fn the_collection_s_files_have_the_rows_columns_and_entries_their_sources_state() {
    let files = [
        ("data/a9a.xz", 32_561, 123, 451_592),
        ("data/w8a.xz", 49_749, 300, 579_586),
        ("data/spam.xz", 4_837, 47_017, 1_137_138),
    ];
    for (name, rows, columns, nonzeros) in files {
        let Some(path) = crate::shared::file("the_collection_s_files", name) else { continue };
        let data = read(&path, &ReadOptions::default(), 2).unwrap();
        let table = table(&data);
        let shape = table.shape;
        assert_eq!(
            (shape.rows, shape.columns, shape.nonzeros, shape.dense),
            (rows, columns, nonzeros, false),
            "{name}"
        );
        assert_eq!(table.labels.len(), rows);
        assert!(table.labels.iter().all(|label| label.abs() == 1.0));
        assert_eq!(table.rows.iter().map(|row| row.len() as u64).sum::<u64>(), nonzeros);
    }
}
