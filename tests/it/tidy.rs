//! The invariants of the crate's head that a test can check, on the sources as text.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every source file below `src`, with its path from there and its text without comments and test modules.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let name = |path: &PathBuf| path.strip_prefix(&root).expect("below src").to_string_lossy().into_owned();
    let sources: Vec<_> =
        files.iter().map(|path| (name(path), code(&fs::read_to_string(path).expect("utf-8")))).collect();
    assert!(sources.len() > 40, "the sources were not found");
    sources
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn code(text: &str) -> String {
    let before_tests = text.split("#[cfg(test)]\nmod tests").next().expect("a first part");
    let lines = before_tests.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn offenders(found: impl Fn(&str, &str) -> bool) -> Vec<String> {
    sources().into_iter().filter(|(name, code)| found(name, code)).map(|(name, _)| name).collect()
}

/// The flow, left to right; a module of one place may import from its own place and from those before it.
const FLOW: [&[&str]; 6] = [
    &["config", "data"],
    &["topology"],
    &["placement"],
    &["shard"],
    &["store", "method", "exchange", "order", "step", "run"],
    &["solve", "report"],
];

fn place(module: &str) -> Option<usize> {
    FLOW.iter().position(|modules| modules.contains(&module))
}

/// Whether `code` names `crate::MODULE`, alone or in the braces of a `use crate::{…}`.
fn imports(code: &str, module: &str) -> bool {
    let braces = code.split("use crate::{").skip(1).map(|rest| rest.split("\n};").next().expect("a first part"));
    let named = |block: &str| {
        let mut lines = block.lines().flat_map(|line| line.split(", ")).map(str::trim_start);
        lines.any(|line| line.starts_with(&format!("{module}::")) || line.starts_with(&format!("{module},")))
    };
    code.contains(&format!("crate::{module}::"))
        || code.contains(&format!("crate::{module};"))
        || braces.into_iter().any(named)
}

#[test]
fn nothing_on_the_left_of_the_flow_imports_from_its_right() {
    let mut wrong = Vec::new();
    for (name, code) in sources() {
        let own = name.split(['/', '.']).next().expect("a first component");
        let Some(at) = place(own) else { continue };
        for module in FLOW.iter().skip(at + 1).copied().flatten() {
            // What methods and exchanges say of themselves, settings are held against; of how they move they know nothing.
            let said = own == "config" && ["method", "exchange"].contains(module);
            if imports(&code, module) && !said {
                wrong.push(format!("{name} imports {module}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn only_sync_names_an_atomic() {
    let allowed = |name: &str| name == "sync.rs" || name.starts_with("sync/");
    let found = offenders(|name, code| {
        !allowed(name)
            && (code.contains("sync::atomic")
                || code.contains("atomic_float")
                || code.contains("Ordering::Relaxed"))
    });
    // Signal handlers of signal-hook take a flag of the standard library.
    assert_eq!(found.iter().filter(|name| *name != "os/signals.rs").collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn unsafe_stands_only_below_os_and_in_kernels() {
    let allowed = |name: &str| name.starts_with("os/") || name.ends_with("kernel.rs");
    let uses = |code: &str| code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl");
    assert_eq!(offenders(|name, code| !allowed(name) && uses(code)), Vec::<String>::new());
}

#[test]
fn only_cli_os_and_topology_read_the_environment_the_clock_and_sys() {
    let allowed = |name: &str| ["cli", "main", "os", "topology"].iter().any(|part| name.starts_with(part));
    let reads = ["std::env", "Instant::now", "SystemTime", "\"/sys", "\"/proc"];
    let found = offenders(|name, code| !allowed(name) && reads.iter().any(|read| code.contains(read)));
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn below_solve_nothing_matches_on_a_kind_of_method_store_or_runner() {
    let below = ["run", "method", "store", "objective", "shard", "sync"];
    let kinds = ["MethodKind", "MergeKind", "CellKind", "Granularity::", "Runner::"];
    let found = offenders(|name, code| {
        below.iter().any(|part| name.starts_with(part)) && kinds.iter().any(|kind| code.contains(kind))
    });
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn no_file_is_a_grab_bag_and_none_holds_more_than_one_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in sources() {
        let stem = Path::new(&name).file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(!["utils", "util", "helpers", "helper", "manager", "common", "misc"].contains(&&*stem), "{name}");
        let lines = fs::read_to_string(root.join("src").join(&name)).expect("readable").lines().count();
        assert!(lines <= 450, "{name} has {lines} lines");
    }
}

#[test]
fn the_hot_loop_is_instantiated_at_most_two_hundred_times() {
    let solve = sources().into_iter().find(|(name, _)| name == "solve.rs").expect("solve.rs").1;
    let stores = solve.matches("self.with_store::<D, M, ").count();
    // Not auto; and minibatch is hogwild with more lines.
    let methods = farrow::config::MethodKind::NAMES.len() - 2;
    let data_forms = solve.matches("fit.with_data::<").count();
    let runners = 2;
    assert!(stores >= 6 && methods >= 7 && data_forms >= 2, "the counts below would count nothing");
    assert!(stores * methods * data_forms * runners <= 200, "{stores} x {methods} x {data_forms} x {runners}");
}
