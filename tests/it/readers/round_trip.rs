//! Random rows, written as text in varied styles, come back with the same bits wherever the text is cut.

use super::{read, table};
use farrow::data::{IndexBase, ReadOptions};
use proptest::prelude::*;
use std::fmt::Write;

/// A finite `f32` of any size.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![any::<u32>().prop_map(f32::from_bits), (-1000i32..1000).prop_map(|v| v as f32 / 8.0)]
        .prop_map(|v| if v.is_finite() { v } else { 1.0 })
}

fn row() -> impl Strategy<Value = Vec<(u32, f32)>> {
    let column = prop_oneof![0u32..40, any::<u32>().prop_map(|c| c % 4_000_000_000)];
    prop::collection::btree_map(column, value(), 0..12).prop_map(|row| row.into_iter().collect())
}

/// How one row is written.
#[derive(Clone, Debug)]
struct Style {
    exponent: bool,
    plus: bool,
    blank: &'static str,
    end: &'static str,
    before: &'static str,
    query: bool,
}

fn style() -> impl Strategy<Value = Style> {
    (
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(vec![" ", "\t", "  ", " \t "]),
        prop::sample::select(vec!["\n", "\r\n", " \n", " # 1:2 remark\n"]),
        prop::sample::select(vec!["", "\n", "# 9:9\n", " \t\r\n"]),
        any::<bool>(),
    )
        .prop_map(|(exponent, plus, blank, end, before, query)| Style {
            exponent,
            plus,
            blank,
            end,
            before,
            query,
        })
}

fn write_number(text: &mut String, number: f64, single: bool, style: &Style) {
    if style.plus && number.is_sign_positive() {
        text.push('+');
    }
    match (style.exponent, single) {
        (true, true) => write!(text, "{:e}", number as f32),
        (false, true) => write!(text, "{}", number as f32),
        (true, false) => write!(text, "{number:E}"),
        (false, false) => write!(text, "{number}"),
    }
    .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn libsvm_text_comes_back_with_the_same_bits_wherever_it_is_cut(
        rows in prop::collection::vec((row(), value(), style()), 1..20),
        base in 0u32..2,
        last_line_end in any::<bool>(),
        slab_bytes in prop_oneof![1usize..64, Just(1 << 20)],
    ) {
        let mut text = String::new();
        for (row, label, style) in &rows {
            text.push_str(style.before);
            write_number(&mut text, f64::from(*label) / 3.0, false, style);
            if style.query {
                text.push_str(" qid:12");
            }
            for (column, value) in row {
                write!(text, "{}{}:", style.blank, column + base).unwrap();
                write_number(&mut text, f64::from(*value), true, style);
            }
            text.push_str(style.end);
        }
        if !last_line_end {
            text.truncate(text.trim_end_matches('\n').len());
        }
        let index_base = Some(if base == 0 { IndexBase::Zero } else { IndexBase::One });
        for threads in [1, 2, 5] {
            let options = ReadOptions { index_base, slab_bytes, ..ReadOptions::default() };
            let table = table(&read(text.as_bytes(), "x", &options, threads).unwrap());
            prop_assert_eq!(table.rows.len(), rows.len());
            for ((read, label), (row, written, _)) in table.rows.iter().zip(&table.labels).zip(&rows) {
                let bits = |row: &[(u32, f32)]| row.iter().map(|(j, v)| (*j, v.to_bits())).collect::<Vec<_>>();
                prop_assert_eq!(bits(read), bits(row));
                prop_assert_eq!(label.to_bits(), (f64::from(*written) / 3.0).to_bits());
            }
        }
    }

    #[test]
    fn csv_comes_back_with_the_same_bits_wherever_it_is_cut(
        rows in prop::collection::vec((prop::collection::vec(value(), 3), any::<bool>(), style()), 1..30),
        header in any::<bool>(),
        slab_bytes in prop_oneof![1usize..64, Just(1 << 20)],
    ) {
        let mut text = String::from(if header { "\"the\nlabel\",\"b,c\",d\n" } else { "" });
        for (row, quoted, style) in &rows {
            for (column, value) in row.iter().enumerate() {
                text.push_str(if column > 0 { "," } else { "" });
                text.push_str(if *quoted { "\"" } else { "" });
                write_number(&mut text, f64::from(*value), true, style);
                text.push_str(if *quoted { "\"" } else { "" });
            }
            text.push_str(if style.end == "\r\n" { "\r\n" } else { "\n" });
        }
        for threads in [1, 2, 5] {
            let options = ReadOptions { slab_bytes, ..ReadOptions::default() };
            let table = table(&read(text.as_bytes(), "x.csv", &options, threads).unwrap());
            prop_assert_eq!(table.rows.len(), rows.len());
            for ((read, label), (row, ..)) in table.rows.iter().zip(&table.labels).zip(&rows) {
                prop_assert_eq!(*label as f32, row[0]);
                let kept = row[1..].iter().enumerate().filter(|(_, v)| **v != 0.0);
                prop_assert_eq!(read, &kept.map(|(j, v)| (j as u32, *v)).collect::<Vec<_>>());
            }
        }
    }
}
