//! What a store holds beside what the method's state says it should: never far apart, and told.

use super::solve::{DUAL, data, planned, setup, sparse};
use farrow::{
    config::{CellKind, Granularity, MergeKind, MethodKind, Runner},
    error::Result,
    loss::Loss,
    solve::{Start, solve},
    trace::{Continue, Observer, Sample, Silent, Snapshot},
};

/// Holds the margins of every sample against Ax.
struct Residual {
    rows: Vec<Vec<(u32, f32)>>,
    samples: usize,
}

impl Observer for Residual {
    fn sample(&mut self, _sample: &Sample, state: &dyn Snapshot) -> Result<Continue> {
        let state = state.checkpoint();
        let mut largest = 0.0f64;
        for (row, z) in self.rows.iter().zip(&state.parameters) {
            let exact: f64 = row.iter().map(|&(c, v)| f64::from(v) * state.state[c as usize]).sum();
            assert!((z - exact).abs() < 1e-11, "{z} for {exact}");
            largest = largest.max(exact.abs());
        }
        assert!(largest > 0.1, "nothing moved");
        self.samples += 1;
        Ok(Continue::Yes)
    }
}

#[test]
fn the_margins_of_descent_by_columns_are_ax_at_every_sample() {
    for (granularity, merge) in [
        (Granularity::Machine, MergeKind::Lossy),
        (Granularity::Machine, MergeKind::Lossless),
        (Granularity::Node, MergeKind::Locked),
        (Granularity::Core, MergeKind::Lossy),
    ] {
        for runner in [Runner::Threads, Runner::Interleaved] {
            let mut setup = setup(MethodKind::Bcd, Loss::Logistic);
            (setup.runner, setup.parameters.merge) = (runner, merge);
            (setup.stop.target, setup.stop.max_epochs) = (None, 12);
            let plan = planned(&mut setup, 4, granularity);
            let mut residual = Residual { rows: sparse(300, 40, true).0, samples: 0 };
            solve(data(300, 40, true), &setup, &plan, Start::default(), &mut residual).unwrap();
            assert_eq!(residual.samples, 12, "{granularity:?} {merge:?} {runner:?}");
        }
    }
}

#[test]
fn drift_is_told_where_writes_can_be_lost_or_rounded_and_nowhere_else() {
    let drift = |method: &MethodKind, granularity, merge, cell| {
        let mut setup = setup(method.clone(), Loss::Logistic);
        (setup.runner, setup.parameters.merge, setup.parameters.cell) = (Runner::Interleaved, merge, cell);
        (setup.stop.target, setup.stop.max_epochs) = (None, 5);
        let plan = planned(&mut setup, 4, granularity);
        let found = solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).unwrap();
        found.samples.last().unwrap().drift
    };
    use {CellKind::*, Granularity::*, MergeKind::*};
    for method in [DUAL, MethodKind::Bcd] {
        // In turns no write is lost: what is left is rounding.
        assert!(drift(&method, Machine, Lossy, F64).unwrap() < 1e-14);
        assert_eq!(drift(&method, Machine, Lossless, F64), None);
        assert_eq!(drift(&method, Core, Lossy, F64), None);
    }
    for method in [DUAL, MethodKind::Bcd, MethodKind::ProxAsaga] {
        let rounded = drift(&method, Core, Lossy, F32).unwrap();
        assert!(rounded > 1e-9 && rounded < 1e-5, "{method:?}: {rounded}");
    }
    assert_eq!(drift(&MethodKind::ProxAsaga, Machine, Lossy, F64), None);
    assert_eq!(drift(&MethodKind::Hogwild, Machine, Lossy, F32), None);
}
