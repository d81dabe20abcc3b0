//! Passes of Hogwild! on the device: the parameters stay there for a pass, and all teams update them at once.

use super::{
    Block, DeviceGradients,
    bindings::group,
    gradients::Lists,
    kernels::compile,
    shaders::{Form, Kernel},
};
use crate::{
    error::{Error, Result},
    gpu::Cut,
};
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline};

/// How a pass runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// γ: an update is x ← x − γ wᵢ φ′ aᵢ.
    pub step: f64,
    /// Whether c moves likewise.
    pub free: bool,
    /// Whether writes that meet are both kept, by compare and exchange; else of two that meet one is lost.
    pub lossless: bool,
    /// Whether one invocation does all, row after row: for tests.
    pub alone: bool,
}

/// What passes of one kind keep on the device.
#[derive(Debug)]
pub(super) struct Passes {
    kind: (bool, bool),
    cut: Cut,
    pipeline: ComputePipeline,
    x: Buffer,
    rows: Buffer,
    blocks: Buffer,
    groups: Vec<BindGroup>,
    capacity: usize,
}

impl DeviceGradients {
    /// For each of `rows`: x ← x − γ wᵢ φ′(zᵢ, bᵢ) aᵢ, all teams at once. The regulariser is the caller's, between passes.
    ///
    /// # Errors
    /// As [`Gradients::start`](crate::gpu::Gradients::start), and rows that are not on the device.
    ///
    /// # Panics
    /// If `x` is not as wide as the rows, or a row is not there.
    pub fn hogwild(&mut self, x: &mut [f64], constant: &mut f64, rows: &[u32], pass: &Pass) -> Result<()> {
        assert_eq!(x.len(), self.shape.width, "x by slot");
        assert!(rows.iter().all(|&row| (row as usize) < self.rows), "a row of {} is not there", self.rows);
        if self.resident() < self.rows {
            return Err(Error::unmet(
                format!("{} of {} rows are on the device", self.resident(), self.rows),
                "passes on a device need all rows there: give it fewer, or in two bytes a value",
            ));
        }
        let known = |made: &Passes| made.kind == (pass.lossless, pass.alone) && made.capacity >= rows.len();
        if !self.hogwild.as_ref().is_some_and(known) {
            self.hogwild = Some(self.passes(rows.len(), pass)?);
        }
        let made = self.hogwild.as_ref().expect("it was just made");
        let mut lists = Lists::default();
        lists.sort(&self.slabs, rows);
        lists.x.extend(x.iter().map(|&x| x as f32));
        lists.x.push(*constant as f32);
        self.device.guarded("make a pass", || self.run(made, &lists, pass))?;
        let found = self.device.read(&made.x, x.len() + 1)?;
        x.iter_mut().zip(&found).for_each(|(x, &new)| *x = f64::from(new));
        *constant = f64::from(found[x.len()]);
        Ok(())
    }

    fn run(&self, made: &Passes, lists: &Lists, pass: &Pass) {
        let (device, queue) = (&self.device.device, &self.device.queue);
        queue.write_buffer(&made.x, 0, bytemuck::cast_slice(&lists.x));
        queue.write_buffer(&made.rows, 0, bytemuck::cast_slice(&lists.rows));
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for (k, group) in made.groups.iter().enumerate() {
            let count = lists.firsts[k + 1] - lists.firsts[k];
            if count == 0 {
                continue;
            }
            let groups = if pass.alone { 1 } else { made.cut.groups(count) };
            let block = Block {
                turns: count.div_ceil(groups * made.cut.teams()) as u32,
                groups: groups as u32,
                free: u32::from(pass.free),
                step: pass.step as f32,
                ..self.shape.block(count, lists.firsts[k], 0.0)
            };
            queue.write_buffer(&made.blocks, k as u64 * super::bindings::BLOCK_APART, bytemuck::bytes_of(&block));
            let mut compute = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            compute.set_pipeline(&made.pipeline);
            compute.set_bind_group(0, group, &[]);
            compute.dispatch_workgroups(groups as u32, 1, 1);
        }
        queue.submit([encoder.finish()]);
    }

    fn passes(&self, rows: usize, pass: &Pass) -> Result<Passes> {
        let device = &self.device;
        let form = self.shape.forms.form(Kernel::Hogwild);
        let cut = if pass.alone { Cut::alone() } else { form.cut };
        let form = Form { lossless: pass.lossless, cut, subgroups: form.subgroups && !pass.alone, ..form };
        let pipeline = compile(device, Kernel::Hogwild, &form)?;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let [x, rows_buffer, blocks] = device.guarded("hold a pass", || {
            [
                device.buffer("x", 4 * (self.shape.width as u64 + 1), usage),
                device.buffer("rows", 4 * rows as u64, usage),
                device.buffer(
                    "blocks",
                    self.slabs.len().max(1) as u64 * super::bindings::BLOCK_APART,
                    BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                ),
            ]
        })?;
        let sparse = self.shape.forms.sparse();
        let bind = |(k, slab): (usize, &super::slab::Slab)| {
            let mut arrays = vec![(1, &slab.values)];
            if sparse {
                arrays.extend([(2, &slab.starts), (3, &slab.slots)]);
            }
            arrays.extend([(4, &rows_buffer), (5, &slab.marks), (6, &x)]);
            device.guarded("bind arrays", || group(device, &pipeline, &blocks, k, &arrays))
        };
        let groups = self.slabs.iter().enumerate().map(bind).collect::<Result<Vec<_>>>()?;
        let kind = (pass.lossless, pass.alone);
        Ok(Passes { kind, cut, pipeline, x, rows: rows_buffer, blocks, groups, capacity: rows })
    }
}
