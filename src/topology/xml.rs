//! What of an hwloc XML file is looked at before hwloc reads it: it takes some faults for granted and crashes on them.

/// The fault of a file that hwloc 2 cannot read, in words; `None` if none of those known is there.
pub(super) fn fault(contents: &[u8]) -> Option<String> {
    if contents.trim_ascii().is_empty() {
        return Some("the file is empty".into());
    }
    let text = String::from_utf8_lossy(contents);
    let Some(root) = tags(&text, "<topology").next() else {
        return Some("it is neither hwloc's XML nor saved by farrow: it has no <topology> element".into());
    };
    let version = root.attributes().find(|(name, _)| *name == "version").map_or("", |(_, value)| value);
    // Files without a version, or with 1.x, are hwloc 1's, which hwloc 2 reads.
    if !(version.is_empty() || version.starts_with("1.") || version.starts_with("2.")) {
        return Some(format!("its version is {version}, and this program's hwloc reads 1.x and 2.x"));
    }
    let is_node = |tag: Tag<'_>| tag.attributes().any(|attribute| attribute == ("type", "NUMANode"));
    if version.starts_with("2.") && !tags(&text, "<object").any(is_node) {
        return Some("it has no NUMA node, and files of hwloc 2 have at least one".into());
    }
    tags(&text, "<object").find_map(|tag| {
        let has = |wanted: &str| tag.attributes().any(|(name, _)| name == wanted);
        // hwloc 2.9 crashes where the complete set is missing (it writes both, always).
        let lacks = |set: &str, complete: &str| {
            (has(set) && !has(complete))
                .then(|| format!("line {}: an object has a {set} and no {complete}", tag.line(&text)))
        };
        lacks("cpuset", "complete_cpuset").or_else(|| lacks("nodeset", "complete_nodeset"))
    })
}

/// An opening tag: where its attributes begin in the text, and they themselves.
struct Tag<'a> {
    at: usize,
    inside: &'a str,
}

impl<'a> Tag<'a> {
    /// Names and values. What is not `name="value"` is left to hwloc, which refuses it.
    fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let mut rest = self.inside;
        std::iter::from_fn(move || {
            let (name, after) = rest.split_once('=')?;
            let quote = after.trim_start().chars().next().filter(|&c| c == '"' || c == '\'')?;
            let (value, after) = after.trim_start()[1..].split_once(quote)?;
            rest = after;
            Some((name.trim(), value))
        })
    }

    fn line(&self, text: &str) -> usize {
        1 + text[..self.at].matches('\n').count()
    }
}

/// The tags that begin so, each up to the `>` that is outside of quotes.
fn tags<'a>(text: &'a str, opening: &'static str) -> impl Iterator<Item = Tag<'a>> {
    text.match_indices(opening).filter_map(move |(start, _)| {
        let at = start + opening.len();
        let named = text[at..].starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/');
        let mut quote = None;
        let end = text[at..].find(|c| {
            match quote {
                Some(open) if c == open => quote = None,
                None if c == '"' || c == '\'' => quote = Some(c),
                None if c == '>' => return true,
                _ => {}
            }
            false
        });
        named.then(|| Tag { at, inside: &text[at..end.map_or(text.len(), |end| at + end)] })
    })
}
