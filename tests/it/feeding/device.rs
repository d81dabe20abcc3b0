//! Runs that are fed to the adapter that there is. Where there is none, each test says so.

use super::*;
use crate::gpu::no_adapter;
use farrow::{
    error::Trouble,
    gpu::{Adapter, choose, list},
};

/// The adapter that is taken where none is named, or none after a line that says so.
fn adapter(test: &str) -> Option<Adapter> {
    match list() {
        Ok(mut all) => {
            let first = choose(&all, None).expect("a list that is not empty");
            Some(all.swap_remove(first))
        }
        Err(Error::Device { trouble: Trouble::Absent, .. }) => {
            no_adapter(test);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_device_alone_and_beside_cpus_comes_to_a_gap_of_a_ten_thousandth() {
    let Some(adapter) = adapter("a_device_alone_and_beside_cpus_comes_to_a_gap_of_a_ten_thousandth") else {
        return;
    };
    for dense in [true, false] {
        for (on, workers) in [(GradientsOn::Gpu, 1), (GradientsOn::Both, 2)] {
            for values in [GradientsValues::F32, GradientsValues::F16] {
                let mut setup = feeding(on, 256);
                setup.gradients =
                    Gradients { fallback: false, values, adapter: Some(adapter.name.clone()), ..setup.gradients };
                let found = to_a_gap(dense, Loss::Logistic, &mut setup, workers);
                let gpu = found.gpu.expect("a GPU worker");
                assert_eq!((&gpu.device.name, &gpu.device.stands_in), (&adapter.name, &None));
                assert_eq!(gpu.device.software, adapter.software);
                assert!(!gpu.fed.replaced && gpu.fed.lines > 0, "{gpu:?}");
            }
        }
    }
}

/// One epoch of one worker is the same batches on the device and on the cpu: what f32 rounds otherwise is all that differs.
#[test]
fn an_epoch_on_a_device_is_that_of_its_twin() {
    let Some(_) = adapter("an_epoch_on_a_device_is_that_of_its_twin") else { return };
    let found = |runner: Runner, dense: bool| {
        let mut setup = feeding(GradientsOn::Gpu, 64);
        (setup.runner, setup.gradients.fallback) = (runner, false);
        (setup.problem.intercept, setup.problem.l2) = (true, L2::Value(1e-2));
        setup.step = Some(StepKind::Constant { initial: Some(0.5) });
        (setup.stop.target, setup.stop.max_epochs) = (None, 3);
        let rows = if dense {
            let rows = dense_rows(500, 17);
            let labels: Vec<f64> = rows.iter().map(|row| if row[0].1 > 0.1 { 1.0 } else { -1.0 }).collect();
            data::from_rows(&rows, &labels, 17).expect("rows")
        } else {
            data(500, 60, true)
        };
        ended(rows, &mut setup, 1)
    };
    for dense in [true, false] {
        // Without a device the interleaved runner has the twin.
        let (device, twin) = (found(Runner::Threads, dense), found(Runner::Interleaved, dense));
        assert!(device.gpu.is_some_and(|gpu| gpu.device.stands_in.is_none()));
        assert!(twin.gpu.is_some_and(|gpu| gpu.device.stands_in.is_some()));
        let largest = twin.model.weights.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        assert!(largest > 0.01);
        let apart = device.model.weights.iter().zip(&twin.model.weights).map(|(a, b)| (a - b).abs());
        let apart = apart.fold((device.model.intercept - twin.model.intercept).abs(), f64::max);
        assert!(apart <= 1e-5 * largest, "dense {dense}: {apart} of {largest}");
    }
}
