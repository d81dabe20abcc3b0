//! [`Gradients`] by a device.

use super::{bindings::BLOCK_APART, kernels::Forms};
use super::{
    open::Device,
    packed::Packed,
    set::{Common, Kernels, Set, kernels},
    slab::{Slab, cut},
    steps::{Dispatch, Question, STEPS_MAX, Shape},
};
use crate::{
    error::{Error, Result, Trouble},
    gpu::{Adapter, Gradients, Options, Sums, Terms},
};
use std::collections::VecDeque;

/// Bytes of the slab for rows that stay on the host.
const PASSING_BYTES: u64 = 64 << 20;

/// Gradients by a device: see the [module](super).
#[derive(Debug)]
pub struct DeviceGradients {
    pub(super) device: Device,
    pub(super) shape: Shape,
    pub(super) rows: usize,
    batch_rows: usize,
    pub(super) slabs: Vec<Slab>,
    /// Rows that stay on the host, and the slab they pass through.
    host: Option<Host>,
    kernels: Kernels,
    sets: [Set; 2],
    common: Common,
    /// The sets that are under way, the oldest first.
    under_way: VecDeque<usize>,
    lists: Lists,
    pub(super) hogwild: Option<super::hogwild::Passes>,
}

#[derive(Debug)]
struct Host {
    terms: Terms,
    /// The rows from here on.
    first: usize,
    slab: Slab,
    /// Bytes of its largest array.
    bytes: u64,
    packed: Packed,
    identity: Vec<u32>,
}

/// A batch as the device takes it.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Rows by slab, numbered from the slab's first; those on the host, last, by their own numbers.
    pub(super) rows: Vec<u32>,
    /// The position in the batch of each.
    places: Vec<u32>,
    /// Where each slab's list starts, and the end.
    pub(super) firsts: Vec<usize>,
    next: Vec<usize>,
    pub(super) x: Vec<f32>,
    blocks: Vec<(usize, super::Block)>,
    seen: Vec<bool>,
}

impl Lists {
    /// Sorts `rows` by slab, in order within one.
    pub(super) fn sort(&mut self, slabs: &[Slab], rows: &[u32]) {
        let Lists { rows: sorted, places, firsts, next, .. } = self;
        let slab_of = |row: u32| slabs.partition_point(|slab| slab.rows.end <= row as usize);
        firsts.clear();
        next.clear();
        firsts.resize(slabs.len() + 2, 0);
        rows.iter().for_each(|&row| firsts[slab_of(row) + 1] += 1);
        (1..firsts.len()).for_each(|k| firsts[k] += firsts[k - 1]);
        next.extend_from_slice(firsts);
        sorted.resize(rows.len(), 0);
        places.resize(rows.len(), 0);
        for (place, &row) in rows.iter().enumerate() {
            let slab = slab_of(row);
            let first = slabs.get(slab).map_or(0, |slab| slab.rows.start);
            sorted[next[slab]] = row - first as u32;
            places[next[slab]] = place as u32;
            next[slab] += 1;
        }
    }

    /// Whether list `k` names all of `count` rows, each once; then puts it in their order.
    fn whole(&mut self, k: usize, count: usize) -> bool {
        let list = &mut self.rows[self.firsts[k]..self.firsts[k + 1]];
        if list.len() != count {
            return false;
        }
        self.seen.clear();
        self.seen.resize(count, false);
        let once = list.iter().all(|&row| !std::mem::replace(&mut self.seen[row as usize], true));
        if once {
            list.iter_mut().zip(0..).for_each(|(row, k)| *row = k);
        }
        once
    }
}

impl DeviceGradients {
    /// Puts `terms` on `device`. Rows that it has no memory for, or that [`Options::resident_bytes`] leaves out, stay here.
    ///
    /// # Errors
    /// Too little memory for the buffers of a batch, a row that is larger than the device can see at once, or a driver that refuses.
    pub fn new(device: Device, terms: Terms, options: &Options) -> Result<Self> {
        let forms = Forms::of(&device, &terms, options);
        let shape = Shape::of(&terms, forms);
        let batch_rows = options.batch_rows.max(1);
        let arrays = [16 * shape.result(), 16 * shape.partials(batch_rows), 4 * batch_rows];
        if let Some(&most) = arrays.iter().max().filter(|&&most| most as u64 > device.array_bytes()) {
            return Err(device.error(
                Trouble::Memory,
                &format!("hold an array of {most} bytes for batches of {batch_rows} rows of {} slots", shape.width),
                &format!("one of {} is the largest", device.array_bytes()),
            ));
        }
        let common = Common::of(&device, &shape, batch_rows)?;
        let runs = cut(&device, &terms, device.array_bytes())?;
        let most = runs.len() + 1;
        let mut sets = [Set::of(&device, &shape, most, batch_rows)?, Set::of(&device, &shape, most, batch_rows)?];
        let slabs = Slab::fill(&device, &terms, &runs, options.by_columns, options.resident_bytes)?;
        let (rows, first) = (terms.rows(), slabs.last().map_or(0, |slab| slab.rows.end));
        let host = (first < rows).then(|| Host::of(&device, terms, first)).transpose()?;
        let questions: &[Question] = if slabs.iter().any(|slab| slab.by_columns.is_some()) {
            &[Question::Gradient, Question::Objective, Question::Margins, Question::Whole]
        } else {
            &[Question::Gradient, Question::Objective, Question::Margins]
        };
        let kernels = kernels(&device, &shape, questions)?;
        for set in &mut sets {
            let all = slabs.iter().chain(host.as_ref().map(|host| &host.slab));
            set.bind(&device, &shape, &kernels, all, &common, questions)?;
        }
        Ok(DeviceGradients {
            device,
            shape,
            rows,
            batch_rows,
            slabs,
            host,
            kernels,
            sets,
            common,
            under_way: VecDeque::with_capacity(2),
            lists: Lists::default(),
            hogwild: None,
        })
    }

    /// What computes.
    pub fn adapter(&self) -> &Adapter {
        self.device.adapter()
    }

    /// Number of rows that it has on the device; the others are sent with each batch.
    pub fn resident(&self) -> usize {
        self.slabs.last().map_or(0, |slab| slab.rows.end)
    }

    /// Number of pieces that the rows on the device are in.
    pub fn slabs(&self) -> usize {
        self.slabs.len()
    }

    /// Σ wᵢ φ and Σ wᵢ φ′ over all rows: a pass over the data that writes no gradient.
    ///
    /// # Errors
    /// As [`Gradients::start`].
    ///
    /// # Panics
    /// If `x` is not as wide as the rows, or a batch waits to be taken.
    pub fn objective(&mut self, x: &[f64], constant: f64) -> Result<Sums> {
        assert!(self.under_way.is_empty(), "a batch waits to be taken");
        let all: Vec<u32> = (0..self.rows as u32).collect();
        let mut sums = Sums::default();
        for rows in all.chunks(self.batch_rows) {
            let part = self.ask(Question::Objective, x, constant, rows).and_then(|()| self.answer(None))?;
            sums.loss += part.loss;
            sums.slope += part.slope;
        }
        Ok(sums)
    }

    /// zᵢ = aᵢᵀx + c of `rows`, in their order.
    ///
    /// # Errors
    /// As [`Gradients::start`].
    ///
    /// # Panics
    /// As [`DeviceGradients::objective`], or if a row is not there.
    pub fn margins(&mut self, x: &[f64], constant: f64, rows: &[u32]) -> Result<Vec<f32>> {
        assert!(self.under_way.is_empty(), "a batch waits to be taken");
        let mut margins = vec![0.0; rows.len()];
        for (rows, margins) in rows.chunks(self.batch_rows).zip(margins.chunks_mut(self.batch_rows)) {
            self.ask(Question::Margins, x, constant, rows)?;
            self.answer(None)?;
            let found = self.device.read(&self.common.margins, rows.len())?;
            self.lists.places.iter().zip(found).for_each(|(&place, z)| margins[place as usize] = z);
        }
        Ok(margins)
    }

    /// Sends `question` on its way.
    fn ask(&mut self, question: Question, x: &[f64], constant: f64, rows: &[u32]) -> Result<()> {
        assert_eq!(x.len(), self.shape.width, "x by slot");
        assert!(rows.iter().all(|&row| (row as usize) < self.rows), "a row of {} is not there", self.rows);
        assert!(self.under_way.len() < self.sets.len(), "two batches wait to be taken");
        if rows.len() > self.batch_rows {
            return Err(Error::unmet(
                format!("a batch of {} rows for a device that was opened for {}", rows.len(), self.batch_rows),
                "open it for the largest batch (Options::batch_rows)",
            ));
        }
        let free = if self.under_way.contains(&0) { 1 } else { 0 };
        self.lists.sort(&self.slabs, rows);
        self.lists.x.clear();
        self.lists.x.extend(x.iter().map(|&x| x as f32));
        self.lists.x.resize(4 * self.shape.stride, 0.0);
        let submission = self.submit(free, question, constant as f32)?;
        self.sets[free].submission = Some(submission);
        self.sets[free].map();
        self.under_way.push_back(free);
        Ok(())
    }

    /// All commands of a batch, in one submission but for rows that are on the host.
    fn submit(&mut self, free: usize, question: Question, constant: f32) -> Result<wgpu::SubmissionIndex> {
        let DeviceGradients { device, shape, slabs, kernels, sets, lists, host, .. } = self;
        let set = &sets[free];
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut work: Vec<(usize, Question, Vec<Dispatch>)> = Vec::new();
        lists.blocks.clear();
        for (k, slab) in slabs.iter().enumerate() {
            let count = lists.firsts[k + 1] - lists.firsts[k];
            if count == 0 {
                continue;
            }
            let columns = question == Question::Gradient && slab.by_columns.is_some();
            let question = if columns && lists.whole(k, slab.rows.len()) { Question::Whole } else { question };
            let dispatches: Vec<_> = shape.dispatches(question, count, lists.firsts[k], constant).collect();
            lists.blocks.extend(dispatches.iter().enumerate().map(|(j, d)| (k * STEPS_MAX + j, d.block)));
            work.push((k, question, dispatches));
        }
        let on_device = lists.firsts[slabs.len()];
        device.guarded("take a batch", || {
            set.send(device, &mut encoder, &lists.blocks, &lists.x, &lists.rows[..on_device])?;
            for (k, question, dispatches) in &work {
                encode(&mut encoder, kernels, set, *k, *question, dispatches);
            }
            if let Some(host) = host {
                device.queue.submit([encoder.finish()]);
                host.pass(device, shape, kernels, set, (slabs.len(), lists), (question, constant));
                encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            }
            set.fetch(&mut encoder);
            Ok(device.queue.submit([encoder.finish()]))
        })?
    }

    /// Waits for the oldest question's answer.
    fn answer(&mut self, gradient: Option<&mut [f64]>) -> Result<Sums> {
        let set = self.under_way.pop_front().expect("a batch was started");
        let at = 4 * self.shape.stride;
        let mut sums = Sums::default();
        self.sets[set].receive(&self.device, |result| {
            if let Some(gradient) = gradient {
                gradient.iter_mut().zip(result).for_each(|(out, &g)| *out = f64::from(g));
            }
            sums = Sums { loss: result[at].into(), slope: result[at + 1].into() };
        })?;
        Ok(sums)
    }
}

/// Has the steps of `question` on slab `slab` follow.
fn encode(
    encoder: &mut wgpu::CommandEncoder,
    kernels: &Kernels,
    set: &Set,
    slab: usize,
    question: Question,
    dispatches: &[Dispatch],
) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    for (dispatch, group) in dispatches.iter().zip(set.groups(slab, question)) {
        pass.set_pipeline(&kernels[&dispatch.step.kernel()]);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(dispatch.groups[0], dispatch.groups[1], 1);
    }
}

impl Host {
    fn of(device: &Device, terms: Terms, first: usize) -> Result<Self> {
        let longest = (first..terms.rows()).map(|row| terms.range(row).len()).max().unwrap_or(0);
        let bytes = device.array_bytes().min(PASSING_BYTES.max(8 * (longest as u64 + 4)));
        let value_bytes = if terms.is_halved() { 2 } else { 4 };
        let row_bytes = value_bytes * terms.width().next_multiple_of(4) as u64;
        let dense = matches!(terms.entries(), crate::gpu::Entries::Dense(_));
        let rows = (bytes / if dense { row_bytes.max(8) } else { 8 }).max(1) as usize;
        let slab = Slab::empty(device, &terms, rows, (bytes / 4) as usize)?;
        Ok(Host { terms, first, slab, bytes, packed: Packed::default(), identity: Vec::new() })
    }

    /// Sends the rows of the last list piece by piece, each followed by its steps. What is written to the slab takes effect
    /// where the next submission starts, after the one before has ended.
    fn pass(
        &mut self,
        device: &Device,
        shape: &Shape,
        kernels: &Kernels,
        set: &Set,
        (number, lists): (usize, &Lists),
        (question, constant): (Question, f32),
    ) {
        let (mut first, end) = (lists.firsts[number], lists.firsts[number + 1]);
        while first < end {
            let rows = &lists.rows[first..end];
            let count = super::slab::fitting(&self.terms, rows, self.bytes);
            debug_assert!(rows[..count].iter().all(|&row| row as usize >= self.first));
            self.packed.take(&self.terms, rows[..count].iter().map(|&row| row as usize));
            self.slab.write(device, &self.packed, 0, 0);
            let known = self.identity.len() as u32;
            self.identity.extend(known..known.max(count as u32));
            let list = bytemuck::cast_slice(&self.identity[..count]);
            device.queue.write_buffer(&set.rows, 4 * first as u64, list);
            let dispatches: Vec<_> = shape.dispatches(question, count, first, constant).collect();
            for (k, dispatch) in dispatches.iter().enumerate() {
                let at = (number * STEPS_MAX + k) as u64 * BLOCK_APART;
                device.queue.write_buffer(&set.blocks, at, bytemuck::bytes_of(&dispatch.block));
            }
            let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encode(&mut encoder, kernels, set, number, question, &dispatches);
            device.queue.submit([encoder.finish()]);
            first += count;
        }
    }
}

impl Gradients for DeviceGradients {
    fn depth(&self) -> usize {
        self.sets.len()
    }

    fn width(&self) -> usize {
        self.shape.width
    }

    fn start(&mut self, x: &[f64], constant: f64, rows: &[u32]) -> Result<()> {
        self.ask(Question::Gradient, x, constant, rows)
    }

    fn take(&mut self, gradient: &mut [f64]) -> Result<Sums> {
        assert_eq!(gradient.len(), self.shape.width, "a gradient by slot");
        self.answer(Some(gradient))
    }
}
