//! The flags that every command with a setup shares. Flatten [`SettingsArgs`], add the command's own flags with
//! [`Settings::put`], and check.

use farrow::{config::Settings, error::Result};
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
    /// Cut a machine of one NUMA node into K, labelled virtual
    #[arg(long, value_name = "K")]
    virtual_nodes: Option<String>,
}

impl SettingsArgs {
    /// The file, then the flags above, then `flags` (section, key, value, the flag's name), then every `--set`: later
    /// ones override earlier ones.
    pub(super) fn settings(&self, flags: &[(&str, &str, Option<String>, &str)]) -> Result<Settings> {
        let mut settings = Settings::new();
        if let Some(path) = &self.config {
            settings.file(path)?;
        }
        let shared = [
            ("workers", "count", self.workers.clone(), "--workers"),
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
}
