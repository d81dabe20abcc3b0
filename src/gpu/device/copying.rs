//! How fast the device's memory is.

use super::{
    Block, Device,
    bindings::group,
    kernels::compile,
    shaders::{Form, Kernel},
};
use crate::{
    error::{Error, Result},
    gpu::Cut,
    loss::Loss,
};
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline};

/// Workgroups of a copy at most: what every device takes in a row.
const GROUPS_MAX: usize = 65_535;

/// Two arrays on the device, of which one is copied to the other: the bandwidth that kernels are held against.
#[derive(Debug)]
pub struct Copying {
    device: Device,
    pipeline: ComputePipeline,
    group: BindGroup,
    groups: u32,
    result: Buffer,
    len: usize,
}

impl Copying {
    /// Puts `numbers` on `device`, and an array of zeros beside them.
    ///
    /// # Errors
    /// More than an array can have, too little memory, or a driver that refuses.
    pub fn new(device: Device, numbers: &[f32]) -> Result<Self> {
        let bytes = 4 * numbers.len() as u64;
        if bytes > device.array_bytes() {
            return Err(Error::unmet(
                format!("{bytes} bytes to copy"),
                format!("{} sees {} bytes as one array", device.adapter.name, device.array_bytes()),
            ));
        }
        let cut = Cut::together();
        let (loss, no) = (Loss::Squared, false);
        let form = Form { loss, cut, sparse: no, halved: no, subgroups: no, float_atomics: no, lossless: no };
        let pipeline = compile(&device, Kernel::Copy, &form)?;
        let count = numbers.len().div_ceil(4);
        let (group, result) = device.guarded("hold an array and its copy", || {
            let (from, to) = (BufferUsages::COPY_DST, BufferUsages::COPY_SRC);
            let source = device.buffer("source", 16 * count as u64, BufferUsages::STORAGE | from);
            let result = device.buffer("result", 16 * count as u64, BufferUsages::STORAGE | to);
            let block = device.buffer("block", size_of::<Block>() as u64, BufferUsages::UNIFORM | from);
            device.send(&source, 0, bytemuck::cast_slice(numbers));
            device.queue.write_buffer(
                &block,
                0,
                bytemuck::bytes_of(&Block { count: count as u32, ..Block::default() }),
            );
            (group(&device, &pipeline, &block, 0, &[(7, &source), (8, &result)]), result)
        })?;
        let groups = count.div_ceil(cut.group()).clamp(1, GROUPS_MAX) as u32;
        Ok(Copying { device, pipeline, group, groups, result, len: numbers.len() })
    }

    /// Copies all `times` times, and waits for the end. Each time 4 bytes a number are read and as many written.
    ///
    /// # Errors
    /// A device that is lost.
    pub fn copy(&self, times: u32) -> Result<()> {
        let device = &self.device;
        let submission = device.guarded("copy", || {
            let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            // Each waits for the one before, which wrote the same array.
            (0..times).for_each(|_| pass.dispatch_workgroups(self.groups, 1, 1));
            drop(pass);
            device.queue.submit([encoder.finish()])
        })?;
        device.wait(&submission)
    }

    /// What the other array has.
    ///
    /// # Errors
    /// A device that is lost.
    pub fn copied(&self) -> Result<Vec<f32>> {
        self.device.read(&self.result, self.len)
    }
}
