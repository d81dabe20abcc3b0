//! Loads that each depend on the one before, alone and beside others that stream.

use super::{
    bandwidth,
    crew::{Crew, batches},
};
use crate::{
    os::memory::{Home, Pages, Site},
    sync::Flag,
};
use rand::{SeedableRng, seq::SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Numbers of a line.
const PER_LINE: usize = 8;

/// A random cycle through all lines of an array of `bytes` at `site`: the first number of each line says where the next begins.
///
/// # Errors
/// What the kernel refused.
fn cycle(bytes: u64, site: &Site) -> Result<Pages<u64>, String> {
    let lines = (bytes as usize / 64).max(2);
    let mut array = Pages::<u64>::placed(lines * PER_LINE, site);
    if let Some(refused) = array.refused() {
        return Err(format!("memory could not be placed: {refused}"));
    }
    let mut order: Vec<u32> = (0..lines as u32).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(1));
    for (at, &line) in order.iter().enumerate() {
        let next = order[(at + 1) % lines];
        array[line as usize * PER_LINE] = u64::from(next) * PER_LINE as u64;
    }
    Ok(array)
}

/// Follows the cycle for `count` loads from `at`.
#[inline(always)]
fn chase(array: &[u64], mut at: usize, count: u64) -> usize {
    for _ in 0..count {
        at = array[at] as usize;
    }
    at
}

pub(super) fn site(node: Option<u32>, huge_pages: bool) -> Site {
    Site { home: node.map_or(Home::FirstTouch, Home::Node), huge_pages }
}

/// ns a load of `cpu`.
pub(super) fn alone(crew: &Crew, cpu: u32, bytes: u64, site: &Site, seconds: f64) -> Result<Vec<f64>, String> {
    let samples = crew.bound(&[cpu], |_| {
        let array = cycle(bytes, site)?;
        let mut at = 0;
        Ok(batches(seconds, &Flag::default(), |count| at = std::hint::black_box(chase(&array, at, count))))
    })?;
    samples.into_iter().collect::<Result<Vec<_>, String>>().map(|samples| samples.concat())
}

/// ns a load of the first cpu (`latency`), or GB/s of the others together, while these read arrays of their own with pauses.
pub(super) fn loaded(
    crew: &Crew,
    cpus: &[u32],
    pause: u32,
    latency: bool,
    bytes: u64,
    seconds: f64,
) -> Result<Vec<f64>, String> {
    let (halt, site) = (Flag::default(), site(None, true));
    let arrays = crate::sync::Gate::new(cpus.len());
    let samples = crew.bound(cpus, |place| {
        let array = cycle(bytes, &site);
        arrays.meet(|| ());
        let array = array?;
        if place == 0 {
            let mut at = 0;
            let samples = batches(seconds, &halt, |count| at = std::hint::black_box(chase(&array, at, count)));
            return Ok(if latency { samples } else { Vec::new() });
        }
        let samples = bandwidth::paused(&array, pause, &halt);
        Ok(if latency { Vec::new() } else { samples })
    })?;
    let samples: Vec<Vec<f64>> = samples.into_iter().collect::<Result<_, String>>()?;
    Ok(if latency { samples.concat() } else { vec![samples.concat().iter().sum()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_goes_through_every_line_once() {
        let array = cycle(64 * 100, &Site::default()).expect("placed");
        let (mut at, mut seen) = (0, vec![false; 100]);
        for _ in 0..100 {
            assert!(!std::mem::replace(&mut seen[at / PER_LINE], true));
            at = chase(&array, at, 1);
        }
        assert_eq!(at, 0);
        assert_eq!(chase(&array, 0, 250), chase(&array, 0, 50));
    }
}
