//! The binary form of a checkpoint, little-endian throughout:
//!
//! | part | bytes |
//! |---|---|
//! | magic `farrow checkpoint\n` | 18 |
//! | version, 3 | 4 |
//! | identity: length, UTF-8 | 8 + length |
//! | epoch | 8 |
//! | first step: 0 or 1, value | 1 + 8 |
//! | σ′, the least σ′, last ascent | 8 + 8 + 8 |
//! | last sample: 0 or 1, ten fields, an optional one as 0 or 1 and its value | 1, or 1 + 83 |
//! | parameters: length, values | 8 + 8 × length |
//! | state: length, values | 8 + 8 × length |
//! | CRC-32 of all before it | 4 |

use super::Checkpoint;
use crate::trace::Sample;
use crc32fast::Hasher;
use std::io::{self, Write};

const MAGIC: &[u8] = b"farrow checkpoint\n";
const VERSION: u32 = 3;

/// Why a file is no checkpoint, and what to do.
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) remedy: &'static str,
}

type Read<T> = Result<T, Fault>;

/// Writes and sums at once.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: Hasher,
}

impl Summed<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.out.write_all(bytes)
    }

    fn count(&mut self, count: u64) -> io::Result<()> {
        self.bytes(&count.to_le_bytes())
    }

    fn real(&mut self, value: f64) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    fn maybe(&mut self, value: Option<f64>) -> io::Result<()> {
        self.bytes(&[u8::from(value.is_some())])?;
        self.real(value.unwrap_or(0.0))
    }

    fn reals(&mut self, values: &[f64]) -> io::Result<()> {
        self.count(values.len() as u64)?;
        values.iter().try_for_each(|value| self.real(*value))
    }

    fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        self.real(sample.epoch)?;
        self.count(sample.updates)?;
        self.real(sample.seconds_solve)?;
        self.real(sample.seconds_evaluate)?;
        self.real(sample.objective)?;
        self.maybe(sample.gap)?;
        self.real(sample.certificate)?;
        self.count(sample.support)?;
        self.maybe(sample.step)?;
        self.maybe(sample.consensus)?;
        self.maybe(sample.drift)
    }
}

pub(super) fn write(out: &mut dyn Write, checkpoint: &Checkpoint) -> io::Result<()> {
    let mut summed = Summed { out, sum: Hasher::new() };
    summed.bytes(MAGIC)?;
    summed.bytes(&VERSION.to_le_bytes())?;
    summed.count(checkpoint.identity.len() as u64)?;
    summed.bytes(checkpoint.identity.as_bytes())?;
    summed.count(checkpoint.epoch)?;
    summed.maybe(checkpoint.step_initial)?;
    summed.real(checkpoint.damping)?;
    summed.real(checkpoint.damping_least)?;
    summed.real(checkpoint.ascent)?;
    summed.bytes(&[u8::from(checkpoint.last.is_some())])?;
    if let Some(sample) = &checkpoint.last {
        summed.sample(sample)?;
    }
    summed.reals(&checkpoint.parameters)?;
    summed.reals(&checkpoint.state)?;
    let Summed { out, sum } = summed;
    out.write_all(&sum.finalize().to_le_bytes())
}

/// Takes values off the front.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn bytes(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn eight(&mut self) -> Read<[u8; 8]> {
        Ok(self.bytes(8)?.try_into().expect("eight bytes were taken"))
    }

    fn count(&mut self) -> Read<u64> {
        self.eight().map(u64::from_le_bytes)
    }

    fn real(&mut self) -> Read<f64> {
        self.eight().map(f64::from_le_bytes)
    }

    fn flag(&mut self) -> Read<bool> {
        Ok(self.bytes(1)?[0] != 0)
    }

    fn maybe(&mut self) -> Read<Option<f64>> {
        let there = self.flag()?;
        self.real().map(|value| there.then_some(value))
    }

    fn reals(&mut self) -> Read<Vec<f64>> {
        let bytes =
            usize::try_from(self.count()?).ok().and_then(|count| count.checked_mul(8)).ok_or_else(cut_short)?;
        let cells = self.bytes(bytes)?.chunks_exact(8);
        Ok(cells.map(|cell| f64::from_le_bytes(cell.try_into().expect("chunks of eight"))).collect())
    }

    fn sample(&mut self) -> Read<Sample> {
        Ok(Sample {
            epoch: self.real()?,
            updates: self.count()?,
            seconds_solve: self.real()?,
            seconds_evaluate: self.real()?,
            objective: self.real()?,
            gap: self.maybe()?,
            certificate: self.real()?,
            support: self.count()?,
            step: self.maybe()?,
            consensus: self.maybe()?,
            drift: self.maybe()?,
        })
    }
}

fn cut_short() -> Fault {
    Fault { what: "the checkpoint is cut short".into(), remedy: "copy it again, or start afresh without --resume" }
}

pub(super) fn read(bytes: &[u8]) -> Read<Checkpoint> {
    if !bytes.starts_with(MAGIC) {
        let remedy = "`farrow solve --checkpoint FILE` writes one; a model is taken up with --warm-start";
        return Err(Fault { what: "not a checkpoint".into(), remedy });
    }
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(cut_short)?;
    let mut cursor = Cursor(&body[MAGIC.len().min(body.len())..]);
    let version = u32::from_le_bytes(cursor.bytes(4)?.try_into().expect("four bytes were taken"));
    if version != VERSION {
        return Err(Fault {
            what: format!("a checkpoint of version {version}; this program reads version {VERSION}"),
            remedy: "resume with the version of farrow that wrote it",
        });
    }
    let (stored, found) = (u32::from_le_bytes(*sum), crc32fast::hash(body));
    if stored != found {
        return Err(Fault {
            what: format!("the checkpoint is damaged: its checksum is {found:08x} and should be {stored:08x}"),
            remedy: "it was cut short or a byte changed; copy it again, or start afresh without --resume",
        });
    }
    let length = usize::try_from(cursor.count()?).map_err(|_| cut_short())?;
    let identity = String::from_utf8_lossy(cursor.bytes(length)?).into_owned();
    let epoch = cursor.count()?;
    let step_initial = cursor.maybe()?;
    let (damping, damping_least, ascent) = (cursor.real()?, cursor.real()?, cursor.real()?);
    let last = if cursor.flag()? { Some(cursor.sample()?) } else { None };
    Ok(Checkpoint {
        identity,
        epoch,
        step_initial,
        damping,
        damping_least,
        ascent,
        last,
        parameters: cursor.reals()?,
        state: cursor.reals()?,
    })
}
