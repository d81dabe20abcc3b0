//! The flags that every command with a setup shares. Flatten [`SettingsArgs`], add the command's own flags with
//! [`Settings::put`], and check.

use farrow::{
    config::{Settings, Setup},
    error::Result,
    placement::{Plan, plan},
    topology::Topology,
};
use std::path::PathBuf;

/// A pinning config and what overrides it.
#[derive(clap::Args)]
#[command(next_help_heading = "Settings")]
pub(super) struct SettingsArgs {
    /// Read settings from a TOML file (numa-configs/ has some)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set any key of a config, over the file and the flags: --set step.kind=decay
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    sets: Vec<String>,
    /// Threads that write updates: cores, cpus, or a number
    #[arg(long, value_name = "N")]
    workers: Option<String>,
    /// Who works gradients out: cpu, gpu (fed by the only worker), or both
    #[arg(long, value_name = "cpu|gpu|both")]
    gradients: Option<String>,
    /// The GPU, by a part of its name or of its PCI address (farrow gpu list)
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Go on with the cpu where there is no GPU, or where it fails
    #[arg(long)]
    gpu_fallback: bool,
    /// Cut a machine of one NUMA node into K, labelled virtual
    #[arg(long, value_name = "K")]
    virtual_nodes: Option<String>,
}

/// Settings, checked and resolved on a machine.
pub(super) struct Resolved {
    pub(super) settings: Settings,
    pub(super) setup: Setup,
    pub(super) topology: Topology,
    pub(super) plan: Plan,
}

impl SettingsArgs {
    /// The config file, if there is one.
    pub(super) fn config(&self) -> &Option<PathBuf> {
        &self.config
    }

    /// The file, then the flags above, then `flags` (section, key, value, the flag's name), then every `--set`: later
    /// ones override earlier ones.
    pub(super) fn settings(&self, flags: &[(&str, &str, Option<String>, &str)]) -> Result<Settings> {
        let mut settings = Settings::new();
        if let Some(path) = &self.config {
            settings.file(path)?;
        }
        let shared = [
            ("workers", "count", self.workers.clone(), "--workers"),
            ("gradients", "on", self.gradients.clone(), "--gradients"),
            ("gradients", "adapter", self.adapter.clone(), "--adapter"),
            ("gradients", "fallback", self.gpu_fallback.then(|| "true".into()), "--gpu-fallback"),
            ("topology", "virtual_nodes", self.virtual_nodes.clone(), "--virtual-nodes"),
        ];
        for (section, key, value, origin) in shared.iter().chain(flags) {
            if let Some(value) = value {
                settings.put(section, key, value, *origin);
            }
        }
        for text in &self.sets {
            settings.set(text)?;
        }
        Ok(settings)
    }

    /// [`SettingsArgs::settings`], checked, and planned for the machine called `topology`, or for this host.
    pub(super) fn resolve(
        &self,
        flags: &[(&str, &str, Option<String>, &str)],
        topology: Option<&str>,
    ) -> Result<Resolved> {
        let settings = self.settings(flags)?;
        let setup = settings.check()?;
        let machine = topology.map_or_else(Topology::of_host, Topology::named)?;
        let topology = machine.with_virtual_nodes(setup.virtual_nodes).map_err(|error| settings.locate(error))?;
        let plan = plan(&topology, &setup).map_err(|error| settings.locate(error))?;
        Ok(Resolved { settings, setup, topology, plan })
    }
}
