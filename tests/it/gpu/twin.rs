use super::{
    bound::{Depth, hold, hold_sums, right},
    cases::{batch, dense, losses, point, sparse},
};
use farrow::gpu::{Gradients, Sums, Terms, Twin};

fn of_batch(twin: &mut Twin, x: &[f64], constant: f64, rows: &[u32]) -> (Vec<f64>, Sums) {
    let mut gradient = vec![f64::NAN; x.len()];
    twin.start(x, constant, rows).expect("started");
    let sums = twin.take(&mut gradient).expect("taken");
    (gradient, sums)
}

fn check(name: &str, terms: &Terms, rows: &[u32], by_columns: bool) {
    let (x, constant) = (point(terms), 0.3);
    let mut twin = Twin::new(terms.clone());
    let mut depth = Depth::of(terms, rows.len(), 1);
    if by_columns {
        twin = twin.with_columns();
        depth = Depth { slot: None, ..Depth::from_margins(terms, rows.len(), 1) };
    }
    let (gradient, sums) = of_batch(&mut twin, &x, constant, rows);
    let right = right(terms, &x, constant, rows, depth);
    hold(name, &gradient, &right.gradient, &right.gradient_bound);
    hold_sums(name, sums, right.sums, right.sums_bound);
    let margins: Vec<f64> = twin.margins(&x, constant, rows).into_iter().map(f64::from).collect();
    hold(name, &margins, &right.margins, &right.margins_bound);
    assert!(rows.is_empty() || right.gradient.iter().any(|g| g.abs() > 1e-3), "{name}: nothing was held");
}

#[test]
fn twin_gradients_are_those_of_f64_within_the_bound_of_f32() {
    for loss in losses() {
        for (rows, width) in [(1, 1), (7, 3), (133, 65), (1031, 20), (257, 513), (9, 4099)] {
            let terms = dense(loss, rows, width, rows % 2 == 0);
            check(&format!("{loss:?} dense {rows} x {width}"), &terms, &batch(&terms, rows + 2), false);
        }
        let lengths: Vec<usize> = (0..301).map(|i| [0, 1, 5, 33, 200][i % 5]).collect();
        let terms = sparse(loss, &lengths, 700, true);
        check(&format!("{loss:?} sparse"), &terms, &batch(&terms, 411), false);
        let all: Vec<u32> = (0..terms.rows() as u32).rev().collect();
        check(&format!("{loss:?} sparse by columns"), &terms, &all, true);
    }
}

#[test]
fn twin_gradient_of_a_squared_loss_is_known_in_closed_form() {
    // Integers: every product and sum is exact in f32. z = (1·2 + 2·(−1), 3·2) + 1 = (1, 7), residuals −3 and 5.
    let entries = farrow::gpu::Entries::Dense(vec![1.0, 2.0, 3.0, 0.0]);
    let terms =
        Terms::new(farrow::loss::Loss::Squared, 2, entries, vec![4.0, 2.0], Some(vec![1.0, 2.0])).expect("terms");
    let (gradient, sums) = of_batch(&mut Twin::new(terms), &[2.0, -1.0], 1.0, &[0, 1]);
    assert_eq!(gradient, [-3.0 + 30.0, -6.0]);
    assert_eq!(sums, Sums { loss: 4.5 + 2.0 * 12.5, slope: -3.0 + 10.0 });
}

#[test]
fn two_batches_are_taken_in_the_order_they_were_started_in() {
    let terms = dense(farrow::loss::Loss::Squared, 5, 3, false);
    let x = point(&terms);
    let mut twin = Twin::new(terms);
    let (first, second) = (of_batch(&mut twin, &x, 0.0, &[0, 1]), of_batch(&mut twin, &x, 0.0, &[4]));
    assert_ne!(first, second);
    twin.start(&x, 0.0, &[0, 1]).expect("started");
    twin.start(&x, 0.0, &[4]).expect("started");
    let mut gradient = vec![0.0; 3];
    assert_eq!((twin.take(&mut gradient).expect("taken"), &gradient), (first.1, &first.0));
    assert_eq!((twin.take(&mut gradient).expect("taken"), &gradient), (second.1, &second.0));
}

#[test]
fn twin_of_an_empty_batch_is_zero() {
    let terms = dense(farrow::loss::Loss::Logistic, 5, 3, false);
    let x = point(&terms);
    assert_eq!(of_batch(&mut Twin::new(terms), &x, 0.0, &[]), (vec![0.0; 3], Sums::default()));
}

#[test]
fn terms_that_do_not_fit_together_are_refused() {
    use farrow::{gpu::Entries, loss::Loss};
    let dense =
        |values: Vec<f32>, labels: Vec<f32>| Terms::new(Loss::Squared, 2, Entries::Dense(values), labels, None);
    assert!(dense(vec![1.0; 4], vec![1.0; 2]).is_ok());
    assert!(dense(vec![1.0; 3], vec![1.0; 2]).is_err());
    assert!(dense(vec![1.0, f32::INFINITY], vec![1.0]).is_err());
    let sparse = |starts: Vec<usize>, slots: Vec<u32>| {
        let values = vec![1.0; slots.len()];
        Terms::new(Loss::Squared, 2, Entries::Sparse { starts, slots, values }, vec![1.0], None)
    };
    assert!(sparse(vec![0, 2], vec![0, 1]).is_ok());
    assert!(sparse(vec![0, 2], vec![0, 2]).is_err());
    assert!(sparse(vec![1, 2], vec![0, 1]).is_err());
    assert!(dense(vec![1e5; 2], vec![1.0]).expect("terms").halved().is_err());
}
