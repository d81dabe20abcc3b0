//! How much a row counts where a cpu visits it, and where the GPU does.

use super::*;

fn is_uneven(found: &Outcome) -> bool {
    found.warnings.iter().any(|warning| warning.contains("times as far as one of the GPU's"))
}

#[test]
fn without_a_method_named_all_rows_count_alike() {
    let mut setup = feeding(GradientsOn::Both, 32);
    setup.method = MethodKind::Auto;
    (setup.problem.l2, setup.parameters.merge) = (L2::Value(1e-3), MergeKind::Lossless);
    (setup.stop.target, setup.stop.max_epochs) = (Some(1e-4), 600);
    let found = ended(data(4000, 60, true), &mut setup, 2);
    assert_eq!((found.method, found.stop), ("minibatch", StopReason::Target), "{:?}", found.gap_relative);
    assert!(!is_uneven(&found), "{:?}", found.warnings);
    let fed = found.gpu.expect("a GPU worker").fed;
    assert_eq!((fed.rows, fed.weight), (32, 1.0));
    // Of batches smaller than the others' a row counts for as much as theirs.
    setup.method = MethodKind::Minibatch { rows: 128 };
    let found = ended(data(4000, 60, true), &mut setup, 2);
    assert!(!is_uneven(&found), "{:?}", found.warnings);
    assert!((found.gpu.expect("a GPU worker").fed.weight - 0.25).abs() < 1e-12);
    setup.method = MethodKind::Auto;

    // As many rows an update: as large a part of the way as of the lines.
    (setup.stop.target, setup.stop.max_epochs, setup.gradients.share) = (None, 4, Some(0.3));
    (setup.step, setup.order) = (Some(StepKind::Constant { initial: Some(0.1) }), OrderKind::Rows);
    let fed = ended(data(4000, 60, true), &mut setup, 2).gpu.expect("a GPU worker").fed;
    assert!((fed.share_of_way - 0.3).abs() < 1e-9 && (fed.share_of_lines - 0.3).abs() < 1e-9, "{fed:?}");
}

#[test]
fn batches_that_are_much_larger_than_the_others_updates_are_warned_of() {
    for (on, own, told) in
        [(GradientsOn::Both, 4, true), (GradientsOn::Both, 256, false), (GradientsOn::Gpu, 4, false)]
    {
        let mut setup = feeding(on, 256);
        setup.method = MethodKind::Minibatch { rows: own };
        (setup.stop.target, setup.stop.max_epochs) = (None, 1);
        let found = ended(data(2000, 40, true), &mut setup, if on == GradientsOn::Both { 2 } else { 1 });
        assert_eq!(is_uneven(&found), told, "{on:?} {own}: {:?}", found.warnings);
        let numbers = |warning: &String| warning.contains("update of 4 ") && warning.contains("method.rows = 256");
        assert_eq!(found.warnings.iter().any(numbers), told, "{:?}", found.warnings);
    }
}
