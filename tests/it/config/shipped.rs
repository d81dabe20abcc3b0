//! The configs that come with the program: each is valid, and fits the machine that its header names.

use farrow::{config::Settings, placement::plan, topology::Topology};
use std::{fs, path::Path};

#[test]
fn every_shipped_config_makes_a_plan_for_the_machine_that_its_header_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("numa-configs");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let header = text.lines().next().unwrap();
        let machine = header.split_once("Fits: ").unwrap_or_else(|| panic!("{name} names no machine: {header}")).1;
        assert!(header.starts_with("# ") && readme.contains(&format!("`{name}`")), "{name} is not in the README");
        let mut settings = Settings::new();
        settings.file(&path).unwrap();
        let setup = settings.check().unwrap_or_else(|error| panic!("{error}"));
        let topology = Topology::from_synthetic(machine).and_then(|it| it.with_virtual_nodes(setup.virtual_nodes));
        let topology = topology.unwrap_or_else(|error| panic!("{name}: {error}"));
        let made = plan(&topology, &setup).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!made.workers.is_empty());
        let only_virtual = made.warnings.iter().all(|warning| warning.contains("virtual"));
        assert!(only_virtual, "{name} on {machine}: {:?}", made.warnings);
        assert!(setup.exchange.is_none() || made.replicas.len() > 1, "{name}: an exchange of one replica");
        seen += 1;
    }
    assert!(seen >= 10, "{seen} configs");
}

#[test]
fn every_config_that_help_or_a_readme_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let texts =
        ["README.md", "numa-configs/README.md", "src/cli/plan.rs", "src/cli/solve.rs", "src/cli/settings.rs"];
    let mut named = 0;
    for text in texts.map(|path| fs::read_to_string(root.join(path)).unwrap()) {
        for rest in text.split("numa-configs/").skip(1) {
            let name = rest.split(|c: char| !(c.is_alphanumeric() || "-._".contains(c))).next().unwrap();
            if name.ends_with(".toml") {
                assert!(root.join("numa-configs").join(name).exists(), "numa-configs/{name}");
                named += 1;
            }
        }
    }
    assert!(named >= 5, "{named} names");
}

/// The README's table of keys says the defaults; these are the ones.
#[test]
fn every_key_of_the_default_setup_is_in_the_readme() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("numa-configs/README.md");
    let readme = fs::read_to_string(path).unwrap();
    let text = farrow::config::Setup::default().to_toml();
    let mut section = "";
    let mut keys = 0;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        let (key, value) = line.split_once(" = ").unwrap();
        let row = format!("| `{section}.{key}` |");
        let row = readme.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("no row {row}"));
        let default = row.trim_end_matches('|').rsplit('|').next().unwrap().split(':').next().unwrap().trim();
        let plain = |text: &str| text.trim_matches(['`', '"']).replace(['`', '"'], "");
        let same = match (plain(default).parse::<f64>(), plain(value).parse::<f64>()) {
            (Ok(stated), Ok(real)) => stated == real,
            _ => plain(default) == plain(value),
        };
        assert!(same, "{section}.{key}: the README says {default}, the default is {value}");
        keys += 1;
    }
    assert!(keys > 20);
}

/// Real machines of the kinds that the configs are for, as hwloc's authors saved them; and one of this project's own.
#[test]
fn configs_for_usual_servers_fit_saved_machines_of_their_kind() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = |name: &str| Some(root.join("tests/it/machines").join(name));
    let test = "configs_for_usual_servers";
    let shared = |name: &str| crate::shared::file(test, &format!("topologies/{name}"));
    let machines = [
        ("xeon-2-sockets.toml", shared("24em64t-2n6c2t.xml"), 2),
        ("xeon-4-sockets.toml", shared("96em64t-4n4d3ca2co.xml"), 4),
        ("xeon-8-sockets.toml", shared("256ppc-8n8s4t.xml"), 8),
        ("epyc-nps4.toml", shared("48amd64-4d2n6c-sparse.xml"), 8),
        ("arm-clusters.toml", shared("128arm-2pa2n8cluster4co.xml"), 4),
        ("cxl-memory.toml", own("cxl-hmat.xml"), 2),
    ];
    let mut seen = 0;
    for (config, machine, shards) in machines {
        let Some(machine) = machine else { continue };
        let mut settings = Settings::new();
        settings.file(&root.join("numa-configs").join(config)).unwrap();
        let topology = Topology::from_xml(&machine).unwrap();
        let made = plan(&topology, &settings.check().unwrap());
        let made = made.unwrap_or_else(|error| panic!("{config} on {}: {error}", machine.display()));
        assert_eq!(made.shards.len(), shards, "{config} on {}", machine.display());
        seen += 1;
    }
    assert!(seen >= 1);
}
