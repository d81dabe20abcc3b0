//! Checkpoints: kept to the bit, refused when damaged or of another run.

use farrow::{checkpoint::Checkpoint, error::Error, trace::Sample};
use std::{fs, path::Path};

fn sample() -> Sample {
    Sample {
        epoch: 3.5,
        updates: 12,
        seconds_solve: 0.1,
        seconds_evaluate: 0.01,
        objective: f64::INFINITY,
        gap: None,
        certificate: 1e-3,
        support: 7,
        step: Some(0.3),
        consensus: Some(1e-9),
        drift: Some(1e-7),
    }
}

fn checkpoint() -> Checkpoint {
    Checkpoint {
        damping: 2.0,
        damping_least: 1.0,
        ascent: -0.25,
        identity: "a9a 32561 × 123, logistic, dual — λ₂ = 1/n".into(),
        parameters: vec![0.1, -0.0, f64::MIN_POSITIVE / 2.0],
        state: vec![1.0 / 3.0],
        epoch: 3,
        step_initial: None,
        last: Some(sample()),
    }
}

fn saved(folder: &Path) -> (std::path::PathBuf, Vec<u8>) {
    let path = folder.join("c");
    checkpoint().save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    (path, bytes)
}

#[test]
fn a_checkpoint_reads_back_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = saved(folder.path());
    let back = Checkpoint::load(&path).unwrap();
    assert_eq!(back, checkpoint());
    assert!(back.parameters[1].is_sign_negative());
    let bare = Checkpoint { last: None, step_initial: Some(0.25), state: vec![], ..checkpoint() };
    bare.save(&path).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap(), bare);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no unfinished file is left");
}

#[test]
fn every_flipped_byte_and_every_cut_of_a_checkpoint_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (path, good) = saved(folder.path());
    for place in 0..good.len() {
        let mut flipped = good.clone();
        flipped[place] ^= 0x10;
        fs::write(&path, &flipped).unwrap();
        let error = Checkpoint::load(&path).unwrap_err();
        assert!(matches!(error, Error::Data { .. }), "byte {place}: {error}");
        fs::write(&path, &good[..place]).unwrap();
        let error = Checkpoint::load(&path).unwrap_err();
        assert!(matches!(error, Error::Data { .. }), "cut at {place}: {error}");
    }
    fs::write(&path, [&good[..], b"x"].concat()).unwrap();
    assert!(Checkpoint::load(&path).unwrap_err().to_string().contains("damaged"));
}

#[test]
fn what_is_no_checkpoint_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut bytes) = saved(folder.path());
    bytes[18] = 9;
    fs::write(&path, &bytes).unwrap();
    assert!(Checkpoint::load(&path).unwrap_err().to_string().contains("version 9"));
    fs::write(&path, "farrow model 1\n").unwrap();
    let error = Checkpoint::load(&path).unwrap_err().to_string();
    assert!(error.contains("not a checkpoint") && error.contains("--warm-start"), "{error}");
    assert!(Checkpoint::load(&folder.path().join("none")).unwrap_err().to_string().contains("cannot read"));
    assert!(checkpoint().save(&folder.path().join("no/folder")).unwrap_err().to_string().contains("no/folder"));
}

#[test]
fn a_checkpoint_of_another_run_is_refused_with_both_identities() {
    let ours = checkpoint();
    ours.check(&ours.identity).unwrap();
    let error = ours.check("spam, hinge").unwrap_err().to_string();
    assert!(error.contains("spam, hinge") && error.contains("a9a 32561 × 123"), "{error}");
}
