//! Statistics against brute force on small random matrices, and spectra against known ones.

use farrow::{
    data::{
        self,
        generate::{DenseSpec, Rule, SparseSpec, Task},
        statistics::{
            self, Estimate, Questions, Rows, conflict_degrees, degrees, describe_labels, largest_eigenvalue,
            symmetric_eigenvalues,
        },
    },
    loss::Loss,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Matrix = Vec<Vec<(u32, f32)>>;

fn taken(rows: &Matrix, columns: usize) -> Rows {
    let data = data::from_rows(rows, &vec![1.0; rows.len()], columns).unwrap();
    Rows::take(data.source.as_ref()).unwrap()
}

fn matrices() -> impl Strategy<Value = Matrix> {
    let row = prop::collection::btree_map(0_u32..30, -2.0_f32..2.0, 0..6).prop_map(|row| row.into_iter().collect());
    prop::collection::vec(row, 1..40)
}

/// How many rows meet each row, itself among them, by trying all pairs.
fn meets(rows: &Matrix) -> Vec<usize> {
    let sets: Vec<BTreeSet<u32>> = rows.iter().map(|row| row.iter().map(|entry| entry.0).collect()).collect();
    sets.iter().map(|a| sets.iter().filter(|b| !a.is_disjoint(b)).count()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn degrees_and_conflicts_are_those_of_brute_force(rows in matrices()) {
        let taken = taken(&rows, 30);
        let n = rows.len() as f64;
        let found = degrees(&taken, 5);
        let counts: Vec<usize> =
            (0..30).map(|j| rows.iter().filter(|row| row.iter().any(|entry| entry.0 == j)).count()).collect();
        prop_assert_eq!(found.omega, rows.iter().map(Vec::len).max().unwrap());
        prop_assert_eq!(found.delta, *counts.iter().max().unwrap() as f64 / n);
        prop_assert_eq!(found.unused_columns, counts.iter().filter(|&&count| count == 0).count());
        prop_assert_eq!(found.empty_rows, rows.iter().filter(|row| row.is_empty()).count());
        for pair in found.hottest.windows(2) {
            prop_assert!(pair[0].rows >= pair[1].rows);
        }
        for hot in &found.hottest {
            prop_assert_eq!(hot.rows as usize, counts[hot.column]);
        }
        let meets = meets(&rows);
        let rho = *meets.iter().max().unwrap() as f64 / n;
        let degree = meets.iter().map(|&meets| meets.saturating_sub(1) as f64).sum::<f64>() / n;
        let exact = conflict_degrees(&taken, u64::MAX, 1);
        prop_assert_eq!(exact.rho, Estimate::Exact { value: rho });
        prop_assert_eq!(exact.conflict_degree, Estimate::Exact { value: degree });
    }
}

#[test]
fn conflicts_of_hot_and_of_rare_columns_are_those_of_brute_force() {
    // Column 0 is in every third row, column j > 0 in four: some rows have a hot column and some have not.
    let row = |i: u32| -> Vec<(u32, f32)> {
        let hot = i.is_multiple_of(3).then_some((0, 1.0));
        hot.into_iter().chain([(1 + i / 4, 1.0), (200 + (i * 7) % 150, 2.0)]).collect()
    };
    let rows: Matrix = (0..600).map(row).collect();
    let meets = meets(&rows);
    let found = conflict_degrees(&taken(&rows, 400), u64::MAX, 1);
    let degree = meets.iter().map(|&meets| meets as f64 - 1.0).sum::<f64>() / 600.0;
    let rho = *meets.iter().max().unwrap() as f64 / 600.0;
    assert_eq!(
        (found.conflict_degree, found.rho),
        (Estimate::Exact { value: degree }, Estimate::Exact { value: rho })
    );
    assert!(degree < 100.0 && rho > 1.0 / 3.0);
}

#[test]
fn a_sample_of_rows_comes_within_its_standard_error_and_bounds_hold() {
    let spec =
        SparseSpec { rows: 4000, columns: 2000, nonzeros_per_row: 10.0, power: 0.8, ..SparseSpec::default() };
    let rows = Rows::take(spec.generate(2).unwrap().into_data().source.as_ref()).unwrap();
    let exact = conflict_degrees(&rows, u64::MAX, 1);
    let (mut within, seeds) = (0, 20);
    for seed in 0..seeds {
        let sampled = conflict_degrees(&rows, 1_000_000, seed);
        let Estimate::Sampled { value, standard_error, rows } = sampled.conflict_degree else {
            panic!("{sampled:?} is not sampled");
        };
        assert!((100..4000).contains(&rows) && standard_error > 0.0);
        within += usize::from((value - exact.conflict_degree.value()).abs() < 2.0 * standard_error);
        let Estimate::Between { value, at_most } = sampled.rho else { panic!("{sampled:?} is not between") };
        assert!(value <= exact.rho.value() && exact.rho.value() <= at_most);
    }
    // 95 of 100 are within two standard errors; fewer than 15 of 20 happen once in 5000.
    assert!(within >= 15, "{within}");
}

#[test]
fn dense_rows_all_meet() {
    let spec = DenseSpec { rows: 50, columns: 4, ..DenseSpec::default() };
    let rows = Rows::take(spec.generate(1).unwrap().into_data().source.as_ref()).unwrap();
    let found = conflict_degrees(&rows, 1, 1);
    assert_eq!((found.rho.value(), found.conflict_degree.value()), (1.0, 49.0));
    let degrees = degrees(&rows, 2);
    assert_eq!((degrees.omega, degrees.delta, degrees.hottest[0].column), (4, 1.0, 0));
}

#[test]
fn jacobi_finds_known_spectra() {
    // The second difference matrix of order d has eigenvalues 2 − 2 cos(kπ/(d + 1)).
    let d = 40;
    let mut matrix = vec![0.0; d * d];
    for i in 0..d {
        matrix[i * d + i] = 2.0;
        if i + 1 < d {
            (matrix[i * d + i + 1], matrix[(i + 1) * d + i]) = (-1.0, -1.0);
        }
    }
    for (k, value) in symmetric_eigenvalues(matrix, d).into_iter().enumerate() {
        let expected = 2.0 - 2.0 * ((k + 1) as f64 * std::f64::consts::PI / (d + 1) as f64).cos();
        assert!((value - expected).abs() < 1e-12, "{k}: {value} of {expected}");
    }
    assert_eq!(symmetric_eigenvalues(vec![3.0], 1), [3.0]);
    let two = symmetric_eigenvalues(vec![1.0, 2.0, 2.0, 1.0], 2);
    assert!((two[0] + 1.0).abs() < 1e-14 && (two[1] - 3.0).abs() < 1e-14, "{two:?}");
}

#[test]
fn power_iteration_and_jacobi_find_the_spectrum_that_was_made() {
    let rule = Rule { task: Task::Regression, ..Rule::default() };
    let spec = DenseSpec { rows: 300, columns: 9, condition: Some(256.0), rule, ..DenseSpec::default() };
    let rows = Rows::take(spec.generate(1).unwrap().into_data().source.as_ref()).unwrap();
    let largest = largest_eigenvalue(&rows, None, 1e-9, 3);
    assert!(largest.converged && (largest.value - 1.0).abs() < 1e-6, "{largest:?}");
    let questions = Questions { l2: 0.5, ..Questions::default() };
    let found = statistics::curvature(&rows, None, &Loss::Squared, &questions);
    assert!((found.mu - 0.5 - 1.0 / 256.0).abs() < 1e-6, "{found:?}");
    assert!(
        (found.l.unwrap() - 1.5).abs() < 1e-5
            && (found.condition.unwrap() - found.l.unwrap() / found.mu).abs() < 1e-12
    );
    let logistic = statistics::curvature(&rows, None, &Loss::Logistic, &questions);
    assert_eq!(logistic.mu, 0.5);
    assert!((logistic.l.unwrap() - 0.75).abs() < 1e-5);
    let hinge = statistics::curvature(&rows, None, &Loss::Hinge, &questions);
    assert_eq!((hinge.l, hinge.l_max, hinge.condition), (None, None, None));
}

#[test]
fn weights_count_as_repeated_rows() {
    let rows: Matrix = vec![vec![(0, 1.0), (1, 2.0)], vec![(1, -1.0), (2, 0.5)], vec![(0, 3.0)], vec![(2, 1.0)]];
    let repeated: Matrix = [&rows[..], &rows[..1], &rows[..1]].concat();
    let weighted = largest_eigenvalue(&taken(&rows, 3), Some(&[3.0, 1.0, 1.0, 1.0]), 1e-10, 1);
    let plain = largest_eigenvalue(&taken(&repeated, 3), None, 1e-10, 1);
    assert!((weighted.value - plain.value).abs() < 1e-9, "{weighted:?} {plain:?}");
    let questions = Questions::default();
    let weighted = statistics::curvature(&taken(&rows, 3), Some(&[3.0, 1.0, 1.0, 1.0]), &Loss::Squared, &questions);
    let plain = statistics::curvature(&taken(&repeated, 3), None, &Loss::Squared, &questions);
    assert!((weighted.mu - plain.mu).abs() < 1e-12 && plain.mu > 0.0);
}

#[test]
fn a_matrix_that_cannot_have_full_rank_has_a_smallest_eigenvalue_of_exactly_zero() {
    let questions = Questions::default();
    let smallest = |rows: &Matrix, columns| {
        statistics::curvature(&taken(rows, columns), None, &Loss::Squared, &questions).smallest
    };
    let wide = smallest(&vec![vec![(0, 1.0), (2, 1.0)]; 2], 3);
    assert!(wide.value == Some(0.0) && wide.how.contains("more columns than rows"), "{wide:?}");
    let unused = smallest(&vec![vec![(0, 1.0)]; 5], 3);
    assert!(unused.value == Some(0.0) && unused.how.contains("no row"), "{unused:?}");
    let big: Matrix = (0..600_u32).map(|i| vec![(i % 300, 1.0)]).collect();
    let big = smallest(&big, 300);
    assert!(big.value.is_none() && big.how.contains("not computed"), "{big:?}");
}

#[test]
fn labels_are_counted_or_spread() {
    let classes = describe_labels(&[1.0, -1.0, 1.0, 1.0]);
    assert_eq!(classes.distinct, 2);
    assert_eq!((classes.classes[0].value, classes.classes[0].rows, classes.classes[1].share), (-1.0, 1, 0.75));
    let zeros = describe_labels(&[0.0, -0.0]);
    assert_eq!((zeros.distinct, zeros.classes[0].rows), (1, 2));
    let many: Vec<f64> = (0..101).map(f64::from).collect();
    let many = describe_labels(&many);
    assert!(many.classes.is_empty() && many.distinct == 101);
    let d = many.distribution;
    assert_eq!((d.min, d.median, d.mean, d.p99, d.max), (0.0, 50.0, 50.0, 99.0, 100.0));
    // The variance of 0..=m is m(m + 2)/12.
    assert!((many.standard_deviation - (100.0_f64 * 102.0 / 12.0).sqrt()).abs() < 1e-12);
}
