//! The kernels on the adapter that there is, held to f64 within the bound of f32. Where there is none, each test says so.

use super::{
    bound::{Depth, hold, hold_sums, right},
    cases::{batch, dense, losses, point, sparse},
    no_adapter,
};
use farrow::{
    error::{Error, Trouble},
    gpu::{
        Cut, Entries, Gradients, Options, Sums, Terms, Twin,
        device::{Block, Copying, Device, DeviceGradients, Pass, shaders},
    },
    loss::Loss,
};

/// An open device, or none after a line that says so.
fn device(test: &str) -> Option<Device> {
    match Device::open(None) {
        Ok(device) => Some(device),
        Err(Error::Device { trouble: Trouble::Absent, .. }) => {
            no_adapter(test);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn of_batch(gradients: &mut DeviceGradients, x: &[f64], constant: f64, rows: &[u32]) -> (Vec<f64>, Sums) {
    let mut gradient = vec![f64::NAN; x.len()];
    gradients.start(x, constant, rows).expect("started");
    let sums = gradients.take(&mut gradient).expect("taken");
    (gradient, sums)
}

fn of_twin(terms: &Terms, x: &[f64], constant: f64, rows: &[u32]) -> Vec<f64> {
    let (mut twin, mut gradient) = (Twin::new(terms.clone()), vec![f64::NAN; x.len()]);
    twin.start(x, constant, rows).expect("started");
    twin.take(&mut gradient).expect("taken");
    gradient
}

/// Gradient, sums and margins of `rows`, and the loss of all.
fn check(name: &str, device: Device, terms: &Terms, rows: &[u32], options: &Options) {
    let (x, constant) = (point(terms), 0.3);
    let mut gradients = DeviceGradients::new(device, terms.clone(), options).expect("on the device");
    // Rows that stay on the host pass through in pieces, at most one each.
    let passing = if gradients.resident() < terms.rows() { rows.len() } else { 0 };
    let pieces = gradients.slabs() + passing;
    let mut depth = Depth::of(terms, rows.len(), pieces);
    if options.by_columns {
        depth = Depth { slot: None, ..Depth::from_margins(terms, rows.len(), pieces) };
    }
    let expected = right(terms, &x, constant, rows, depth);
    let (gradient, sums) = of_batch(&mut gradients, &x, constant, rows);
    hold(name, &gradient, &expected.gradient, &expected.gradient_bound);
    hold_sums(name, sums, expected.sums, expected.sums_bound);
    let margins = gradients.margins(&x, constant, rows).expect("margins");
    let margins: Vec<f64> = margins.into_iter().map(f64::from).collect();
    hold(name, &margins, &expected.margins, &expected.margins_bound);
    let twin = of_twin(terms, &x, constant, rows);
    let own = right(terms, &x, constant, rows, Depth::of(terms, rows.len(), 1)).gradient_bound;
    let both: Vec<f64> = own.iter().zip(&expected.gradient_bound).map(|(a, b)| a + b).collect();
    hold(&format!("{name}: beside its twin"), &gradient, &twin, &both);
    // The same batch again, out of buffers that are no longer new.
    let again = of_batch(&mut gradients, &x, constant, rows);
    hold(name, &again.0, &expected.gradient, &expected.gradient_bound);
    let all: Vec<u32> = (0..terms.rows() as u32).collect();
    let depth = Depth::from_margins(terms, all.len(), pieces + terms.rows());
    let whole = right(terms, &x, constant, &all, depth);
    let objective = gradients.objective(&x, constant).expect("an objective");
    hold_sums(&format!("{name}: objective"), objective, whole.sums, whole.sums_bound);
    assert!(rows.is_empty() || expected.gradient.iter().any(|g| g.abs() > 1e-3), "{name}: nothing was held");
}

/// Both ways of adding up within a team, and of adding to a slot that several teams add to.
fn ways(batch_rows: usize) -> [Options; 2] {
    let plain = Options { subgroups: false, float_atomics: false, ..Options::new(batch_rows) };
    [Options::new(batch_rows), plain]
}

#[test]
fn kernels_of_dense_rows_are_within_the_bound_of_f32_for_all_losses_and_shapes() {
    for loss in losses() {
        for (rows, width) in [(1, 1), (7, 3), (133, 65), (257, 513), (9, 4099)] {
            let terms = dense(loss, rows, width, rows % 2 == 0);
            let list = batch(&terms, rows + 2);
            for options in ways(list.len()) {
                let Some(device) = device("kernels_of_dense_rows") else { return };
                check(&format!("{loss:?} dense {rows} x {width}"), device, &terms, &list, &options);
            }
        }
    }
}

#[test]
fn kernels_of_sparse_rows_are_within_the_bound_of_f32_with_empty_rows_and_a_huge_one() {
    let mixed: Vec<usize> = (0..301).map(|i| [0, 1, 5, 33, 200][i % 5]).collect();
    let mut huge = vec![3, 0];
    huge.push(100_000);
    for loss in losses() {
        for (lengths, width) in [(&mixed, 700), (&huge, 100_003), (&vec![1], 1)] {
            let terms = sparse(loss, lengths, width, lengths.len() > 3);
            let name = format!("{loss:?} sparse, {} rows x {width}", lengths.len());
            let list = batch(&terms, lengths.len() + 110);
            for options in ways(list.len()) {
                let Some(device) = device("kernels_of_sparse_rows") else { return };
                check(&name, device, &terms, &list, &options);
            }
            let all: Vec<u32> = (0..terms.rows() as u32).rev().collect();
            let options = Options { by_columns: true, ..Options::new(all.len()) };
            let Some(device) = device("kernels_of_sparse_rows") else { return };
            check(&format!("{name} by columns"), device, &terms, &all, &options);
        }
    }
}

#[test]
fn values_of_two_bytes_are_those_that_the_terms_were_rounded_to() {
    for terms in [
        dense(Loss::Logistic, 133, 65, true),
        sparse(Loss::Logistic, &(0..90).map(|i| i % 31).collect::<Vec<_>>(), 97, false),
    ] {
        let terms = terms.halved().expect("within the range of half floats");
        let list = batch(&terms, 150);
        let Some(device) = device("values_of_two_bytes") else { return };
        check("halved", device, &terms, &list, &Options::new(list.len()));
    }
}

#[test]
fn rows_that_the_device_has_no_memory_for_pass_through_it() {
    for terms in [dense(Loss::Squared, 300, 33, true), sparse(Loss::Squared, &vec![7; 300], 97, true)] {
        for bytes in [0, 9000] {
            let list = batch(&terms, 411);
            let options = Options { resident_bytes: Some(bytes), ..Options::new(list.len()) };
            let Some(device) = device("rows_that_the_device_has_no_memory_for") else { return };
            check(&format!("{bytes} bytes resident"), device, &terms, &list, &options);
        }
    }
}

#[test]
fn a_lossless_pass_keeps_every_addition() {
    let Some(device) = device("a_lossless_pass") else { return };
    // Hinge with labels of 1 far from the kink: each row adds 2⁻¹⁰ to its slot and to the constant, exactly.
    let (rows, width) = (5000, 3);
    let starts = (0..=rows).collect();
    let slots = (0..rows as u32).map(|i| i % width as u32).collect();
    let entries = Entries::Sparse { starts, slots, values: vec![1.0; rows] };
    let terms = Terms::new(Loss::Hinge, width, entries, vec![1.0; rows], None).expect("terms");
    let mut gradients = DeviceGradients::new(device, terms, &Options::new(rows)).expect("on the device");
    let (mut x, mut constant) = (vec![-100.0; width], 0.0);
    let list: Vec<u32> = (0..rows as u32).collect();
    let pass = Pass { step: 2f64.powi(-10), free: false, lossless: true, alone: false };
    gradients.hogwild(&mut x, &mut constant, &list, &pass).expect("a pass");
    let added = |slot: usize| (rows - slot).div_ceil(width) as f64 * 2f64.powi(-10);
    let expected: Vec<f64> = (0..width).map(|slot| -100.0 + added(slot)).collect();
    assert_eq!((x, constant), (expected, 0.0));
}

#[test]
fn a_pass_of_one_invocation_is_that_of_its_twin() {
    // Few bits: every product and sum is exact in f32, so that whoever computes it takes the same side of each kink.
    let (rows, width) = (400, 37);
    let drawn = sparse(Loss::Hinge, &vec![5; rows], width, false);
    let Entries::Sparse { starts, slots, values } = drawn.entries().clone() else { panic!("sparse") };
    let values = values.iter().map(|value| (4.0 * value).round() / 4.0).collect();
    let labels = (0..rows).map(|row| drawn.label(row)).collect();
    let terms =
        Terms::new(Loss::Hinge, width, Entries::Sparse { starts, slots, values }, labels, None).expect("terms");
    let list: Vec<u32> = (0..rows as u32).rev().collect();
    let (mut x, mut constant) = (vec![0.5; width], -0.25);
    Twin::new(terms.clone()).hogwild(&mut x, &mut constant, &list, 0.0625, true);
    assert!(x.iter().filter(|x| **x != 0.5).count() > 30 && constant != -0.25, "it went somewhere");
    for lossless in [false, true] {
        let Some(device) = device("a_pass_of_one_invocation") else { return };
        let mut gradients =
            DeviceGradients::new(device, terms.clone(), &Options::new(rows)).expect("on the device");
        let (mut found, mut free) = (vec![0.5; width], -0.25);
        let pass = Pass { step: 0.0625, free: true, lossless, alone: true };
        gradients.hogwild(&mut found, &mut free, &list, &pass).expect("a pass");
        assert_eq!((&found, free), (&x, constant), "lossless: {lossless}");
    }
}

#[test]
fn a_copy_is_of_every_number() {
    for len in [1, 4, 1023, 300_001] {
        let Some(device) = device("a_copy_is_of_every_number") else { return };
        let numbers: Vec<f32> = (0..len).map(|k| k as f32 + 1.0).collect();
        let copying = Copying::new(device, &numbers).expect("on the device");
        assert!(copying.copied().expect("zeros").iter().all(|&number| number == 0.0));
        copying.copy(2).expect("copied");
        assert_eq!(copying.copied().expect("numbers"), numbers);
    }
}

#[test]
fn a_batch_that_the_device_cannot_hold_is_refused_with_the_bytes() {
    let Some(device) = device("a_batch_that_the_device_cannot_hold") else { return };
    let array = device.adapter().limits.binding_bytes as usize;
    let terms = dense(Loss::Logistic, 10, 5000, false);
    let error =
        DeviceGradients::new(device, terms, &Options::new(array / 4 + 1000)).expect_err("too much").to_string();
    assert!(error.contains("not enough memory") && error.contains("fewer rows a batch"), "{error}");
}

#[test]
fn every_kernel_is_valid_and_what_a_dispatch_is_told_lies_as_in_rust() {
    use wgpu::naga::{front::wgsl, valid};
    for kernel in shaders::Kernel::ALL {
        for (loss, mask) in losses().into_iter().flat_map(|loss| (0..32u32).map(move |mask| (loss, mask))) {
            let bit = |k: u32| mask >> k & 1 == 1;
            let form = shaders::Form {
                loss,
                cut: Cut::walking(40),
                sparse: bit(0),
                halved: bit(1),
                subgroups: bit(2),
                float_atomics: bit(3),
                lossless: bit(4),
            };
            let text = shaders::source(kernel, &form);
            let module = wgsl::parse_str(&text)
                .unwrap_or_else(|error| panic!("{kernel:?}: {}", error.emit_to_string(&text)));
            valid::Validator::new(valid::ValidationFlags::all(), valid::Capabilities::all())
                .subgroup_stages(valid::ShaderStages::COMPUTE)
                .subgroup_operations(valid::SubgroupOperationSet::all())
                .validate(&module)
                .unwrap_or_else(|error| panic!("{kernel:?}: {}", error.emit_to_string(&text)));
            lies_as_in_rust(&module);
        }
    }
}

fn lies_as_in_rust(module: &wgpu::naga::Module) {
    use std::mem::{offset_of, size_of};
    let named = |name: &str| module.types.iter().find(|(_, kind)| kind.name.as_deref() == Some(name));
    let (_, batch) = named("Batch").expect("in every kernel");
    let wgpu::naga::TypeInner::Struct { members, span } = &batch.inner else { panic!("a struct") };
    macro_rules! offsets {
        ($($field:ident),+) => { [$((stringify!($field), offset_of!(Block, $field))),+] };
    }
    let expected =
        offsets!(count, first, turns, groups, stride, width, target_first, free, constant, delta, step, unused);
    let found: Vec<(&str, usize)> =
        members.iter().map(|member| (member.name.as_deref().unwrap_or(""), member.offset as usize)).collect();
    assert_eq!((found, *span as usize), (expected.to_vec(), size_of::<Block>()));
}
