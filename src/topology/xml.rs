//! What of an hwloc XML file is looked at before hwloc reads it. Its parser names no line and writes to standard error,
//! and what is well formed but incomplete makes it crash.

use roxmltree::{Document, Node, ParsingOptions};

/// The fault of a file that hwloc 2 cannot read, in words; `None` if none of those known is there.
pub(super) fn fault(contents: &[u8]) -> Option<String> {
    if contents.trim_ascii().is_empty() {
        return Some("the file is empty".into());
    }
    let Ok(text) = std::str::from_utf8(contents) else {
        return Some("it is neither hwloc's XML nor saved by farrow: it is not text in UTF-8".into());
    };
    // hwloc's own files name their DTD.
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    match Document::parse_with_options(text, options) {
        Ok(document) => fault_of(&document),
        Err(error) => Some(format!("it is neither hwloc's XML nor saved by farrow: {error}")),
    }
}

fn fault_of(document: &Document<'_>) -> Option<String> {
    let root = document.root_element();
    if root.tag_name().name() != "topology" {
        return Some(format!("its root is <{}> and not hwloc's <topology>", root.tag_name().name()));
    }
    // Files without a version, or with 1.x, are hwloc 1's, which hwloc 2 reads.
    let version = root.attribute("version").unwrap_or("1.0");
    if !(version.starts_with("1.") || version.starts_with("2.")) {
        return Some(format!("its version is {version}, and this program's hwloc reads 1.x and 2.x"));
    }
    let objects = || document.descendants().filter(|node| node.has_tag_name("object"));
    let of_type = |kind: &str| objects().filter(|object| object.attribute("type") == Some(kind)).count();
    let outermost: Vec<_> = root.children().filter(|node| node.has_tag_name("object")).collect();
    let one_machine = of_type("Machine") <= 1 && outermost.len() == 1;
    if !one_machine || !matches!(outermost[0].attribute("type"), Some("Machine" | "System")) {
        return Some("its objects are not those of one <object type=\"Machine\">".into());
    }
    if of_type("PU") == 0 {
        return Some("it has no cpu (no <object type=\"PU\">)".into());
    }
    if version.starts_with("2.") && of_type("NUMANode") == 0 {
        return Some("it has no NUMA node, and files of hwloc 2 have at least one".into());
    }
    objects().find_map(|object| incomplete(&object, version.starts_with("2.")))
}

/// hwloc 2.9 crashes where a set, or the complete set beside it, is missing (it writes both, always).
fn incomplete(object: &Node<'_, '_>, sets_are_needed: bool) -> Option<String> {
    let line = || object.document().text_pos_at(object.range().start).row;
    let kind = object.attribute("type").unwrap_or("");
    let is_device = matches!(kind, "Bridge" | "PCIDev" | "OSDev" | "Misc");
    if sets_are_needed && !is_device && !object.has_attribute("cpuset") {
        return Some(format!("line {}: an object of type {kind} has no cpuset", line()));
    }
    let pairs = [("cpuset", "complete_cpuset"), ("nodeset", "complete_nodeset")];
    let (set, complete) =
        pairs.into_iter().find(|(set, complete)| object.has_attribute(*set) && !object.has_attribute(*complete))?;
    Some(format!("line {}: an object has a {set} and no {complete}", line()))
}
