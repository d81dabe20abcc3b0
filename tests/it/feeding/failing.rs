//! Devices that fail on the way: what was written stays, what was in flight is worked out by the cpu or given up.

use super::*;
use farrow::{
    error::Trouble,
    gpu::{Adapter, Features, Gradients, Limits, Opened, Options, Sums, Terms, Twin},
};

/// Gives up once it has answered so often.
struct Failing {
    twin: Twin,
    left: usize,
    /// Whether it fails when it is given something, or when it is asked.
    at_start: bool,
}

fn lost() -> Error {
    Error::device(Trouble::Lost, "device `test` was lost", "reset it")
}

impl Gradients for Failing {
    fn depth(&self) -> usize {
        self.twin.depth()
    }

    fn width(&self) -> usize {
        self.twin.width()
    }

    fn start(&mut self, x: &[f64], constant: f64, rows: &[u32]) -> farrow::error::Result<()> {
        if self.at_start && self.left == 0 {
            return Err(lost());
        }
        self.twin.start(x, constant, rows)
    }

    fn take(&mut self, gradient: &mut [f64]) -> farrow::error::Result<Sums> {
        if self.left == 0 {
            return Err(lost());
        }
        self.left -= 1;
        self.twin.take(gradient)
    }
}

fn opened(terms: Terms, left: usize, at_start: bool) -> Opened {
    let adapter = Adapter {
        name: "test".into(),
        backend: "none".into(),
        kind: "other",
        software: false,
        driver: String::new(),
        pci: Some("0000:3b:00.0".into()),
        limits: Limits::default(),
        features: Features::default(),
    };
    Opened { gradients: Box::new(Failing { twin: Twin::new(terms), left, at_start }), adapter }
}

fn run(setup: &mut Setup, workers: usize, left: usize, at_start: bool) -> Outcome {
    let open = |terms: Terms, options: &Options| {
        assert_eq!(options.adapter.as_deref(), Some("test"));
        Ok(opened(terms, left, at_start))
    };
    setup.gradients.adapter = Some("test".into());
    let plan = planned(setup, workers);
    let start = Start { device: Some(&open), ..Start::default() };
    solve(data(1000, 40, true), setup, &plan, start, &mut Silent).expect("solved")
}

#[test]
fn the_cpu_goes_on_where_it_may_and_no_line_is_left_out() {
    for (on, workers) in [(GradientsOn::Gpu, 1), (GradientsOn::Both, 2)] {
        for at_start in [false, true] {
            let mut setup = feeding(on, 32);
            (setup.stop.target, setup.stop.max_epochs) = (None, 4);
            let found = run(&mut setup, workers, 21, at_start);
            assert_eq!((found.stop, found.updates), (StopReason::MaxEpochs, 4000), "{on:?} {at_start}");
            let gpu = found.gpu.expect("a GPU worker");
            assert!(gpu.fed.replaced && gpu.device.name == "test" && !gpu.device.software);
            assert!(gpu.fed.lines > 21 * 32, "it went on");
            let told = found.warnings.iter().filter(|warning| warning.contains("goes on in its place"));
            assert!(told.clone().all(|warning| warning.contains("device `test` was lost")));
            assert_eq!(told.count(), 1, "{:?}", found.warnings);
        }
    }
}

#[test]
fn the_run_ends_and_keeps_what_was_fitted_where_nothing_goes_on() {
    for (on, workers) in [(GradientsOn::Gpu, 1), (GradientsOn::Both, 2)] {
        for at_start in [false, true] {
            let mut setup = feeding(on, 32);
            setup.gradients.fallback = false;
            (setup.stop.target, setup.stop.max_epochs) = (None, 1000);
            let found = run(&mut setup, workers, 40, at_start);
            assert_eq!(found.stop, StopReason::DeviceFailed, "{on:?} {at_start}");
            let fed = found.gpu.expect("a GPU worker").fed;
            assert!(fed.lines <= 40 * 32 && fed.lines > 38 * 16 && !fed.replaced, "{fed:?}");
            assert!(found.objective < 0.69 && found.model.weights.iter().any(|&x| x != 0.0), "{}", found.objective);
            assert_eq!(found.checkpoint.parameters.len(), 41);
            assert!(
                found.warnings.iter().any(|warning| warning.contains("ends with what was fitted")),
                "{:?}",
                found.warnings
            );
        }
    }
}

/// The same with a device that does not fail: what it is called and what it did is in the outcome.
#[test]
fn a_device_is_told_of_by_name() {
    let mut setup = feeding(GradientsOn::Both, 32);
    setup.method = MethodKind::Minibatch { rows: 32 };
    (setup.stop.target, setup.stop.max_epochs) = (None, 3);
    let found = run(&mut setup, 2, usize::MAX, false);
    let gpu = found.gpu.expect("a GPU worker");
    assert_eq!((&*gpu.device.name, gpu.device.software, gpu.fed.replaced), ("test", false, false));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    assert!(gpu.fed.share_of_way > 0.0 && gpu.fed.share_of_way < 1.0 && gpu.fed.weight >= 1.0);
}

#[test]
fn a_device_that_is_fed_beside_another_card_is_told_of() {
    let mut setup = feeding(GradientsOn::Gpu, 32);
    (setup.stop.target, setup.stop.max_epochs) = (None, 1);
    setup.gradients.adapter = Some("3b:00".into());
    let mut plan = planned(&mut setup, 1);
    for (beside, told) in [(None, 0), (Some("0000:3B:00.0"), 0), (Some("0000:d8:00.0"), 1)] {
        plan.feeder.as_mut().expect("a feeder").gpu = beside.map(String::from);
        let open = |terms: Terms, _: &Options| Ok(opened(terms, usize::MAX, false));
        let start = Start { device: Some(&open), ..Start::default() };
        let found = solve(data(200, 40, true), &setup, &plan, start, &mut Silent).expect("solved");
        let warned = found.warnings.iter().filter(|warning| warning.contains("--adapter 0000:3b:00.0"));
        assert_eq!(warned.count(), told, "{beside:?} {:?}", found.warnings);
        assert_eq!(found.gpu.expect("a GPU worker").device.pci.as_deref(), Some("0000:3b:00.0"));
    }
}
