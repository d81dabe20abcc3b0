//! Which buffer is which array of a kernel: the numbers of `gpu/README.md`.

use super::{
    open::Device,
    set::{Common, Set},
    shaders::Kernel,
    slab::Slab,
    steps::Step,
};
use wgpu::{BindGroup, BindGroupEntry, BindingResource, Buffer, BufferBinding, ComputePipeline};

/// Bytes between two blocks: an offset of a uniform is a multiple of this on every device.
pub(super) const BLOCK_APART: u64 = 256;

/// The arrays of `step` on `slab`.
pub(super) fn arrays<'a>(
    step: Step,
    slab: &'a Slab,
    set: &'a Set,
    common: &'a Common,
    sparse: bool,
) -> Vec<(u32, &'a Buffer)> {
    let by_row = |rest: &[(u32, &'a Buffer)]| {
        let mut arrays = vec![(1, &slab.values)];
        if sparse {
            arrays.extend([(2, &slab.starts), (3, &slab.slots)]);
        }
        arrays.extend_from_slice(rest);
        arrays
    };
    match step.kernel() {
        Kernel::Dense => by_row(&[(4, &set.rows), (5, &slab.marks), (6, &set.x), (7, &common.partials)]),
        Kernel::Sparse => {
            by_row(&[(4, &set.rows), (5, &slab.marks), (6, &set.x), (7, &common.partials), (8, &set.result)])
        }
        Kernel::Margins => by_row(&[(4, &set.rows), (6, &set.x), (8, &common.margins)]),
        Kernel::Slopes => vec![(4, &set.rows), (5, &slab.marks), (7, &common.partials), (8, &common.margins)],
        Kernel::Columns => {
            vec![(1, &slab.values), (4, &set.rows), (7, &common.partials), (8, &common.margins)]
        }
        Kernel::SparseColumns => {
            let columns = slab.by_columns.as_ref().expect("the slab is kept by columns");
            let entries = [(1, &columns.values), (2, &columns.starts), (3, &columns.rows)];
            entries.into_iter().chain([(7, &set.result), (8, &common.margins)]).collect()
        }
        Kernel::Reduce => vec![(7, &common.partials), (8, &set.result)],
        Kernel::Hogwild | Kernel::Copy => unreachable!("they are no step of a gradient"),
    }
}

/// Binds `arrays`, and block number `block` of `blocks`.
pub(super) fn group(
    device: &Device,
    pipeline: &ComputePipeline,
    blocks: &Buffer,
    block: usize,
    arrays: &[(u32, &Buffer)],
) -> BindGroup {
    let uniform = BindingResource::Buffer(BufferBinding {
        buffer: blocks,
        offset: block as u64 * BLOCK_APART,
        size: std::num::NonZeroU64::new(size_of::<super::Block>() as u64),
    });
    let mut entries = vec![BindGroupEntry { binding: 0, resource: uniform }];
    entries.extend(
        arrays.iter().map(|&(binding, buffer)| BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
    );
    let layout = pipeline.get_bind_group_layout(0);
    device.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries })
}
