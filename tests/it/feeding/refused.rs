//! What a GPU worker does not go with, and what happens without a device.

use super::*;
use farrow::config::{DelayKind, Settings};

fn said(text: &str) -> String {
    let mut settings = Settings::new();
    settings.text("c.toml", text).expect("TOML");
    settings.check().expect_err(text).to_string()
}

#[test]
fn settings_that_a_gpu_worker_does_not_go_with_are_refused_with_what_is_accepted() {
    for (text, parts) in [
        ("[gradients]\non = \"gpus\"\n", &["c.toml:2", "did you mean `gpu`?", "cpu, gpu, both"][..]),
        (
            "[gradients]\non = \"gpu\"\n[method]\nkind = \"dual\"\n",
            &["c.toml:4", "\"minibatch\", \"hogwild\" or \"auto\""],
        ),
        (
            "[gradients]\non = \"both\"\n[method]\nkind = \"newton\"\n",
            &["c.toml:4", "stochastic gradients of the primal"],
        ),
        (
            "[gradients]\non = \"gpu\"\n[problem]\nloss = \"squared\"\nrank = 3\n",
            &["c.toml:5", "take problem.rank out"],
        ),
        ("[gradients]\non = \"both\"\n[parameters]\nmerge = \"locked\"\n", &["c.toml:4", "stripes", "lossless"]),
        ("[gradients]\non = \"gpu\"\n[workers]\ncount = 4\n", &["c.toml:4", "is the only one", "both"]),
        ("[gradients]\non = \"both\"\n[workers]\ncount = 1\n", &["c.toml:4", "two workers or more"]),
        ("[gradients]\non = \"gpu\"\n[injection]\ndelay = \"fixed:3\"\n", &["c.toml:4", "both"]),
        ("[gradients]\nrows = 64\n", &["c.toml:2", "does not belong to gradients.on = \"cpu\"", "nothing more"]),
        ("[gradients]\non = \"gpu\"\nshare = 0.5\n", &["c.toml:3", "adapter, fallback, rows"]),
        ("[gradients]\non = \"both\"\nshare = 1\n", &["c.toml:3", "above 0 and below 1", "auto"]),
        ("[gradients]\non = \"both\"\nrows = 0\n", &["c.toml:3", "auto"]),
        ("[gradients]\non = \"both\"\nadapter = \" \"\n", &["c.toml:3", "farrow gpu list"]),
        ("[gradients]\non = \"both\"\nfallback = \"yes\"\n", &["c.toml:3", "true, false"]),
    ] {
        let message = said(text);
        for part in parts {
            assert!(message.contains(part), "{text}: {part}: {message}");
        }
    }
}

#[test]
fn without_a_method_named_the_one_of_mini_batches_is_taken_and_says_why() {
    let mut setup = feeding(GradientsOn::Both, 32);
    setup.method = MethodKind::Auto;
    (setup.stop.target, setup.stop.max_epochs) = (None, 2);
    let found = ended(data(300, 40, true), &mut setup, 2);
    assert_eq!(found.method, "minibatch");
    assert!(found.why.contains("GPU"), "{}", found.why);
}

#[test]
fn the_cpu_stands_in_where_that_is_allowed_and_says_so_loudly() {
    let mut setup = feeding(GradientsOn::Gpu, 32);
    setup.gradients.adapter = Some("no adapter has this name".into());
    (setup.stop.target, setup.stop.max_epochs) = (None, 2);
    let found = ended(data(300, 40, true), &mut setup, 1);
    let device = found.gpu.expect("a GPU worker").device;
    assert!(device.software && device.name == "cpu" && device.stands_in.is_some(), "{device:?}");
    assert!(found.warnings.iter().any(|warning| warning.contains("a GPU was asked for")), "{:?}", found.warnings);

    setup.gradients.fallback = false;
    let refused = refusal(data(300, 40, true), &mut setup, 1);
    assert!(refused.contains("--gpu-fallback"), "{refused}");
}

#[test]
fn delays_are_not_put_into_the_feeders_updates() {
    let mut setup = feeding(GradientsOn::Both, 32);
    setup.injection.delay = DelayKind::Fixed(3);
    setup.injection.workers = Some(vec![1]);
    let refused = refusal(data(300, 40, true), &mut setup, 2);
    assert!(refused.contains("worker 1, which feeds the GPU"), "{refused}");
}
