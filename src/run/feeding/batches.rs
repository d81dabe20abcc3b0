//! Where the feeder is in its window: which rows its next batch has, and what is in flight.

use crate::{error::Result, gpu::Gradients, order::Bucket};

/// A batch under way.
struct Flight {
    rows: Vec<u32>,
    /// The bucket of the window that its first row is of.
    bucket: u32,
    /// What had landed before its snapshot.
    landed: u64,
}

/// What is known of a batch that was taken.
#[derive(Clone, Copy)]
pub(super) struct Batch {
    pub(super) lines: usize,
    pub(super) bucket: u32,
    pub(super) landed: u64,
    /// Σ wᵢ φ′.
    pub(super) slope: f64,
}

/// See the module.
pub(in crate::run) struct Feeder {
    device: Box<dyn Gradients>,
    firsts: Vec<Option<usize>>,
    rows: usize,
    x: Vec<f64>,
    gradient: Vec<f64>,
    /// Batches in flight, the oldest at `taken` mod the depth.
    flights: Vec<Flight>,
    started: usize,
    taken: usize,
    /// Whether the next batch has its rows already, since its start failed.
    gathered: bool,
    /// Batches that a device was given and lost, and that its stand-in must start anew.
    lost: usize,
    /// The bucket that rows are taken from, and how many of it were.
    bucket: usize,
    line: usize,
    over: bool,
}

impl Feeder {
    /// For batches of `rows` rows, by `device`, of which those of each part begin at `firsts`; x has `width` slots.
    pub(super) fn new(device: Box<dyn Gradients>, firsts: Vec<Option<usize>>, rows: usize, width: usize) -> Self {
        let flight = || Flight { rows: Vec::with_capacity(rows), bucket: 0, landed: 0 };
        let flights = (0..device.depth().max(1)).map(|_| flight()).collect();
        Feeder {
            device,
            firsts,
            rows,
            x: vec![0.0; width],
            gradient: vec![0.0; width],
            flights,
            started: 0,
            taken: 0,
            gathered: false,
            lost: 0,
            bucket: 0,
            line: 0,
            over: true,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Goes to the start of a window; whether there is anything in it.
    pub(in crate::run) fn open(&mut self, buckets: &[Bucket]) -> bool {
        (self.bucket, self.line, self.over) = (0, 0, false);
        self.is_left(buckets)
    }

    /// Starts no more batches; whether one is in flight, which is still written.
    pub(in crate::run) fn halt(&mut self) -> bool {
        (self.over, self.gathered) = (true, false);
        self.started > self.taken
    }

    /// Whether there is a batch to start or to write.
    pub(super) fn is_left(&self, buckets: &[Bucket]) -> bool {
        self.has_rows(buckets) || self.started > self.taken
    }

    fn has_rows(&self, buckets: &[Bucket]) -> bool {
        self.gathered || (!self.over && self.bucket < buckets.len())
    }

    /// Whether a start comes next: as many are in flight as there can be before the oldest is waited for.
    pub(super) fn starts(&self, buckets: &[Bucket]) -> bool {
        self.lost > 0 || (self.started - self.taken < self.flights.len() && self.has_rows(buckets))
    }

    /// Where the next snapshot is to be put.
    pub(super) fn snapshot(&mut self) -> &mut [f64] {
        &mut self.x
    }

    /// The gradient of the batch that was taken last.
    pub(super) fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// Has the next rows' gradient worked out at the snapshot and at `constant`; `landed` updates had landed before it.
    pub(super) fn start(&mut self, constant: f64, landed: u64, buckets: &[Bucket]) -> Result<()> {
        let again = self.lost > 0;
        let number = if again { self.started - self.lost } else { self.started };
        if !again && !self.gathered {
            self.gather(buckets);
        }
        let depth = self.flights.len();
        let flight = &mut self.flights[number % depth];
        flight.landed = landed;
        self.device.start(&self.x, constant, &flight.rows)?;
        if again {
            self.lost -= 1;
        } else {
            (self.started, self.gathered) = (self.started + 1, false);
        }
        Ok(())
    }

    /// Waits for the oldest batch, whose gradient it keeps.
    pub(super) fn take(&mut self) -> Result<Batch> {
        let sums = self.device.take(&mut self.gradient)?;
        let depth = self.flights.len();
        let Flight { rows, bucket, landed } = &self.flights[self.taken % depth];
        self.taken += 1;
        Ok(Batch { lines: rows.len(), bucket: *bucket, landed: *landed, slope: sums.slope })
    }

    /// Another device goes on: what the first had in flight is started anew, at snapshots of their own.
    pub(super) fn replace(&mut self, device: Box<dyn Gradients>) {
        self.lost = self.started - self.taken;
        self.device = device;
    }

    /// No device goes on: what is in flight is given up.
    pub(super) fn give_up(&mut self) {
        (self.over, self.gathered, self.lost, self.taken) = (true, false, 0, self.started);
    }

    /// The rows of the next batch: those of the next buckets, as far as they go.
    fn gather(&mut self, buckets: &[Bucket]) {
        let depth = self.flights.len();
        let flight = &mut self.flights[self.started % depth];
        flight.rows.clear();
        flight.bucket = self.bucket as u32;
        while let Some(bucket) = buckets.get(self.bucket).filter(|_| flight.rows.len() < self.rows) {
            let first = self.firsts[bucket.part as usize].expect("the device has all parts of the feeder's shard");
            let room = self.rows - flight.rows.len();
            let taken = room.min(bucket.lines as usize - self.line);
            let lines = bucket.range().skip(self.line).take(taken);
            flight.rows.extend(lines.map(|line| (first + line) as u32));
            self.line += taken;
            if self.line == bucket.lines as usize {
                (self.bucket, self.line) = (self.bucket + 1, 0);
            }
        }
        self.gathered = true;
    }
}
