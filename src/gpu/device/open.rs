//! A device from its adapter, and what goes wrong with it as values.

use crate::{
    error::{Error, Result, Trouble},
    gpu::{Adapter, Features, Limits, adapters::choose},
};
use std::sync::{Arc, Mutex, PoisonError};

/// An open device.
#[derive(Debug)]
pub struct Device {
    pub(super) adapter: Adapter,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    /// What the driver reported since, other than in answer to a call.
    reported: Reported,
}

/// What the driver reported, and what kind of trouble it is.
type Reported = Arc<Mutex<Option<(Trouble, String)>>>;

fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle())
}

fn adapters() -> (Vec<wgpu::Adapter>, Vec<Adapter>) {
    let found = pollster::block_on(instance().enumerate_adapters(wgpu::Backends::PRIMARY));
    let described = found.iter().map(describe).collect();
    (found, described)
}

/// All adapters.
pub(in crate::gpu) fn list() -> Result<Vec<Adapter>> {
    let (_, described) = adapters();
    choose(&described, None)?;
    Ok(described)
}

fn describe(adapter: &wgpu::Adapter) -> Adapter {
    let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
    let has = |feature| features.contains(feature);
    let sizes = [info.subgroup_min_size, info.subgroup_max_size];
    Adapter {
        name: info.name,
        backend: info.backend.to_str().to_string(),
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "other",
        },
        software: info.device_type == wgpu::DeviceType::Cpu,
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
        pci: Some(info.device_pci_bus_id).filter(|address| !address.is_empty()),
        limits: Limits {
            binding_bytes: limits.max_storage_buffer_binding_size,
            buffer_bytes: limits.max_buffer_size,
            bindings: limits.max_storage_buffers_per_shader_stage,
            invocations: limits.max_compute_invocations_per_workgroup,
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            workgroups: limits.max_compute_workgroups_per_dimension,
        },
        features: Features {
            f16: has(wgpu::Features::SHADER_F16),
            subgroup: has(wgpu::Features::SUBGROUP).then_some(sizes),
            float_atomics: has(wgpu::Features::SHADER_FLOAT32_ATOMIC),
            timestamps: has(wgpu::Features::TIMESTAMP_QUERY),
        },
    }
}

impl Device {
    /// The adapter with `name` in its name or PCI address, or without one the first that is not software, with all its limits.
    ///
    /// # Errors
    /// None there, none or several of that name, or one that cannot be opened.
    pub fn open(name: Option<&str>) -> Result<Self> {
        let (mut found, mut described) = adapters();
        let chosen = choose(&described, name)?;
        let (found, adapter) = (found.swap_remove(chosen), described.swap_remove(chosen));
        let wanted = wgpu::Features::SUBGROUP | wgpu::Features::SHADER_FLOAT32_ATOMIC;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("farrow"),
            required_features: found.features() & wanted,
            // All that it has: what is not asked for is not given.
            required_limits: found.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(found.request_device(&descriptor)).map_err(|error| {
            Error::device(
                Trouble::Refused,
                format!("{} cannot be opened: {error}", adapter.name),
                "see `farrow gpu list` for others, and whether its driver is up to date",
            )
        })?;
        let reported = Reported::default();
        let report = |reported: &Reported, trouble, text| {
            // The first says most; what follows is mostly of its making.
            reported.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((trouble, text));
        };
        let (lost, other) = (Arc::clone(&reported), Arc::clone(&reported));
        device.set_device_lost_callback(move |reason, text| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                report(&lost, Trouble::Lost, text);
            }
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let (trouble, text) = sort(error);
            report(&other, trouble, text);
        }));
        Ok(Device { adapter, device, queue, reported })
    }

    /// What the device is.
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// Does `work` and says what the driver had against it; `doing` is a verb and its object.
    pub(super) fn guarded<T>(&self, doing: &str, work: impl FnOnce() -> T) -> Result<T> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let scopes = [Internal, Validation, OutOfMemory].map(|filter| self.device.push_error_scope(filter));
        let done = work();
        // The last pushed is the first popped, and that one catches what matters most.
        let errors = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop()));
        if let Some(error) = errors.collect::<Vec<_>>().into_iter().next() {
            let (trouble, text) = sort(error);
            return Err(self.error(trouble, doing, &text));
        }
        self.sound(doing).map(|()| done)
    }

    /// Whether nothing was reported.
    pub(super) fn sound(&self, doing: &str) -> Result<()> {
        let reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        match &*reported {
            Some((trouble, text)) => Err(self.error(*trouble, doing, text)),
            None => Ok(()),
        }
    }

    /// An error of this device.
    pub(super) fn error(&self, trouble: Trouble, doing: &str, text: &str) -> Error {
        let (what, remedy) = match trouble {
            Trouble::Memory => {
                ("has not enough memory to", "give it less: fewer rows a batch, values of two bytes")
            }
            Trouble::Lost => {
                ("was lost and cannot", "see the kernel's log (dmesg); start again, or go on with the cpus")
            }
            _ => ("refused to", "this is a fault of farrow or of the driver: please report it with this text"),
        };
        let text = if text.is_empty() { String::new() } else { format!(": {}", text.trim()) };
        Error::device(trouble, format!("{} {what} {doing}{text}", self.adapter.name), remedy)
    }

    /// Waits until `submission` is done and its answers are mapped.
    pub(super) fn wait(&self, submission: &wgpu::SubmissionIndex) -> Result<()> {
        let wait = wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout: None };
        self.device.poll(wait).map_err(|error| self.error(Trouble::Lost, "finish a batch", &error.to_string()))?;
        self.sound("finish a batch")
    }

    /// A buffer of `bytes` bytes, or a little more: an empty one cannot be bound.
    pub(super) fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let size = bytes.max(16).next_multiple_of(16);
        let mapped_at_creation = usage.contains(wgpu::BufferUsages::MAP_WRITE);
        self.device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation })
    }

    /// The most bytes that one array may have.
    pub(super) fn array_bytes(&self) -> u64 {
        let limits = &self.adapter.limits;
        limits.binding_bytes.min(limits.buffer_bytes) / 16 * 16
    }
}

/// What kind of trouble an error is, and what it says.
fn sort(error: wgpu::Error) -> (Trouble, String) {
    match error {
        wgpu::Error::OutOfMemory { .. } => (Trouble::Memory, String::new()),
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            (Trouble::Refused, description)
        }
    }
}
