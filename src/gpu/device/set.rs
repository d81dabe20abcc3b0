//! The buffers of one batch under way: two sets, so that one is filled and emptied while the device works on the other.

use super::{
    bindings::{BLOCK_APART, arrays, group},
    kernels::compile,
    open::Device,
    slab::Slab,
    steps::{Question, STEPS_MAX, Shape, steps},
};
use crate::error::{Result, Trouble};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::mpsc::{Receiver, Sender, channel},
};
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline, MapMode, SubmissionIndex};

/// Buffers of which one is enough: batches run one after the other on the device.
#[derive(Debug)]
pub(super) struct Common {
    /// Partial sums.
    pub(super) partials: Buffer,
    /// Margins, then slopes, by position of the batch.
    pub(super) margins: Buffer,
}

impl Common {
    pub(super) fn of(device: &Device, shape: &Shape, rows: usize) -> Result<Self> {
        device.guarded("hold partial sums", || Common {
            partials: device.buffer("partials", 16 * shape.partials(rows) as u64, BufferUsages::STORAGE),
            margins: device.buffer("margins", 4 * rows as u64, BufferUsages::STORAGE | BufferUsages::COPY_SRC),
        })
    }
}

/// The kernels of all steps.
pub(super) type Kernels = HashMap<super::shaders::Kernel, ComputePipeline>;

/// Compiles the kernels that `questions` take.
pub(super) fn kernels(device: &Device, shape: &Shape, questions: &[Question]) -> Result<Kernels> {
    let mut kernels = Kernels::new();
    for step in questions.iter().flat_map(|&question| steps(question, &shape.forms)) {
        let kernel = step.kernel();
        if let Entry::Vacant(vacant) = kernels.entry(kernel) {
            vacant.insert(compile(device, kernel, &shape.forms.form(kernel))?);
        }
    }
    Ok(kernels)
}

/// The buffers of a batch under way.
#[derive(Debug)]
pub(super) struct Set {
    /// Mapped while the set is free: blocks, x and lists of rows as they are sent.
    upload: Buffer,
    /// A block every 256 bytes: of slab s, those from number 5 s on.
    pub(super) blocks: Buffer,
    pub(super) x: Buffer,
    pub(super) rows: Buffer,
    /// The gradient, and its sums behind it.
    pub(super) result: Buffer,
    /// The result as it comes back.
    download: Buffer,
    sizes: Sizes,
    /// What mapping came to.
    mapped: (Sender<bool>, Receiver<bool>),
    /// The last submission of the batch that is under way.
    pub(super) submission: Option<SubmissionIndex>,
    /// By slab and question, the bindings of its steps.
    groups: Vec<Vec<(Question, Vec<BindGroup>)>>,
}

/// Bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    blocks: u64,
    x: u64,
    rows: u64,
    result: u64,
}

impl Set {
    pub(super) fn of(device: &Device, shape: &Shape, slabs: usize, rows: usize) -> Result<Self> {
        let sizes = Sizes {
            blocks: (slabs * STEPS_MAX) as u64 * BLOCK_APART,
            x: 16 * shape.stride.max(1) as u64,
            rows: (4 * rows as u64).next_multiple_of(16).max(16),
            result: 16 * shape.result() as u64,
        };
        let upload = sizes.blocks + sizes.x + sizes.rows;
        device.guarded("hold a batch", || Set {
            upload: device.buffer("upload", upload, BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC),
            blocks: device.buffer("blocks", sizes.blocks, BufferUsages::UNIFORM | BufferUsages::COPY_DST),
            x: device.buffer("x", sizes.x, BufferUsages::STORAGE | BufferUsages::COPY_DST),
            rows: device.buffer("rows", sizes.rows, BufferUsages::STORAGE | BufferUsages::COPY_DST),
            result: device.buffer(
                "result",
                sizes.result,
                BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            ),
            download: device.buffer("download", sizes.result, BufferUsages::MAP_READ | BufferUsages::COPY_DST),
            sizes,
            mapped: channel(),
            submission: None,
            groups: Vec::new(),
        })
    }

    /// Binds the steps of `questions` on each of `slabs`.
    pub(super) fn bind<'a>(
        &mut self,
        device: &Device,
        shape: &Shape,
        kernels: &Kernels,
        slabs: impl Iterator<Item = &'a Slab>,
        common: &Common,
        questions: &[Question],
    ) -> Result<()> {
        let mut groups = Vec::new();
        for (number, slab) in slabs.enumerate() {
            let possible = questions.iter().filter(|q| **q != Question::Whole || slab.by_columns.is_some());
            let bound = possible.map(|&question| {
                let steps = steps(question, &shape.forms).iter().enumerate();
                let bind = |(k, &step): (usize, &super::steps::Step)| {
                    let block = number * STEPS_MAX + k;
                    let kernel = &kernels[&step.kernel()];
                    device.guarded("bind arrays", || {
                        let arrays = arrays(step, slab, self, common, shape.forms.sparse());
                        group(device, kernel, &self.blocks, block, &arrays)
                    })
                };
                Ok((question, steps.map(bind).collect::<Result<Vec<_>>>()?))
            });
            groups.push(bound.collect::<Result<Vec<_>>>()?);
        }
        self.groups = groups;
        Ok(())
    }

    /// The bindings of the steps of `question` on slab `slab`.
    pub(super) fn groups(&self, slab: usize, question: Question) -> &[BindGroup] {
        let (_, groups) = self.groups[slab].iter().find(|(asked, _)| *asked == question).expect("it is bound");
        groups
    }

    /// Writes what the batch needs to mapped memory, and has the first commands of `encoder` take it to the device. `blocks` come
    /// with their numbers.
    pub(super) fn send(
        &self,
        device: &Device,
        encoder: &mut wgpu::CommandEncoder,
        blocks: &[(usize, super::Block)],
        x: &[f32],
        rows: &[u32],
    ) -> Result<()> {
        let Sizes { blocks: blocks_bytes, x: x_bytes, rows: rows_bytes, result: _ } = self.sizes;
        {
            let lost = |error: wgpu::MapRangeError| device.error(Trouble::Lost, "take a batch", &error.to_string());
            let mut view = self.upload.get_mapped_range_mut(..).map_err(lost)?;
            for (number, block) in blocks {
                let at = number * BLOCK_APART as usize;
                view.slice(at..at + size_of_val(block)).copy_from_slice(bytemuck::bytes_of(block));
            }
            let mut put = |at: u64, bytes: &[u8]| {
                view.slice(at as usize..at as usize + bytes.len()).copy_from_slice(bytes);
            };
            put(blocks_bytes, bytemuck::cast_slice(x));
            put(blocks_bytes + x_bytes, bytemuck::cast_slice(rows));
        }
        self.upload.unmap();
        let sent = (4 * rows.len() as u64).min(rows_bytes);
        encoder.copy_buffer_to_buffer(&self.upload, 0, &self.blocks, 0, blocks_bytes);
        encoder.copy_buffer_to_buffer(&self.upload, blocks_bytes, &self.x, 0, x_bytes);
        if sent > 0 {
            encoder.copy_buffer_to_buffer(&self.upload, blocks_bytes + x_bytes, &self.rows, 0, sent);
        }
        encoder.clear_buffer(&self.result, 0, None);
        Ok(())
    }

    /// Has the last commands of `encoder` bring the result back.
    pub(super) fn fetch(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.result, 0, &self.download, 0, self.sizes.result);
    }

    /// Asks for the memory of both ways, once what was submitted is done.
    pub(super) fn map(&self) {
        for (buffer, mode) in [(&self.download, MapMode::Read), (&self.upload, MapMode::Write)] {
            let mapped = self.mapped.0.clone();
            // Nobody to tell is nobody who waits.
            buffer.map_async(mode, .., move |result| {
                let _ = mapped.send(result.is_ok());
            });
        }
    }

    /// Waits for the batch under way and gives `read` its result.
    pub(super) fn receive(&mut self, device: &Device, read: impl FnOnce(&[f32])) -> Result<()> {
        let submission = self.submission.take().expect("a batch is under way");
        device.wait(&submission)?;
        let lost = || device.error(Trouble::Lost, "hand back a gradient", "its memory cannot be read");
        if [self.mapped.1.try_recv(), self.mapped.1.try_recv()] != [Ok(true); 2] {
            return Err(lost());
        }
        {
            let view = self.download.get_mapped_range(..).map_err(|_| lost())?;
            read(bytemuck::cast_slice(&view));
        }
        self.download.unmap();
        Ok(())
    }
}
