//! Compiled kernels.

use super::{
    open::Device,
    shaders::{Form, Kernel, source},
};
use crate::{
    error::Result,
    gpu::{Cut, Entries, Options, Terms, twin::sparse_columns},
};
use wgpu::ComputePipeline;

/// How each kernel cuts its work, and what all are compiled for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forms {
    form: Form,
    /// Of `dense.wgsl`, where a team can hold a row.
    pub(super) holding: Option<Cut>,
    /// Of rows that are walked through.
    pub(super) walking: Cut,
    /// Of columns that are walked through.
    pub(super) columns: Cut,
    /// The size of every subgroup, where it may be used.
    subgroup: Option<usize>,
}

impl Forms {
    pub(super) fn of(device: &Device, terms: &Terms, options: &Options) -> Self {
        let features = &device.adapter.features;
        let subgroup = features.subgroup.filter(|[least, most]| options.subgroups && least == most);
        let sparse = matches!(terms.entries(), Entries::Sparse { .. });
        Forms {
            form: Form {
                loss: terms.loss(),
                cut: Cut::together(),
                sparse,
                halved: terms.is_halved(),
                subgroups: false,
                float_atomics: options.float_atomics && features.float_atomics,
                lossless: false,
            },
            holding: Cut::holding(terms.width()).filter(|_| !sparse),
            walking: Cut::walking(terms.mean()),
            columns: sparse_columns::cut(terms),
            subgroup: subgroup.map(|[size, _]| size as usize),
        }
    }

    /// Whether rows are sparse.
    pub(super) fn sparse(&self) -> bool {
        self.form.sparse
    }

    /// The form of `kernel`.
    pub(super) fn form(&self, kernel: Kernel) -> Form {
        let cut = match kernel {
            Kernel::Dense => self.holding.expect("a team holds a row"),
            Kernel::Margins | Kernel::Sparse | Kernel::Hogwild => self.walking,
            Kernel::SparseColumns => self.columns,
            Kernel::Slopes | Kernel::Columns | Kernel::Reduce | Kernel::Copy => Cut::together(),
        };
        Form { cut, subgroups: self.subgroup == Some(cut.team()), ..self.form }
    }
}

/// Compiles `kernel`.
pub(super) fn compile(device: &Device, kernel: Kernel, form: &Form) -> Result<ComputePipeline> {
    let text = source(kernel, form);
    device.guarded(&format!("compile kernel {kernel:?}"), || {
        let label = format!("{kernel:?}");
        let module = device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(&label),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&label),
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    })
}
