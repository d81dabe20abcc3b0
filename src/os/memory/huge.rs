//! Whether the kernel gives transparent huge pages to those who ask for them.

use std::{fs, path::Path};

/// Why arrays that ask for huge pages get none; `None` if they may get some.
pub fn withheld() -> Option<String> {
    withheld_below(Path::new("/"))
}

/// [`withheld`] with the file system seen from `root`, for tests.
pub fn withheld_below(root: &Path) -> Option<String> {
    let file = "sys/kernel/mm/transparent_hugepage/enabled";
    match fs::read_to_string(root.join(file)) {
        Ok(text) if text.contains("[never]") => {
            Some(format!("transparent huge pages are off: write madvise to /{file} as root"))
        }
        Ok(_) => None,
        Err(error) => Some(format!("the kernel has no transparent huge pages (/{file}: {error})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_that_are_off_or_unknown_to_the_kernel_have_a_reason() {
        let root = tempfile::tempdir().unwrap();
        assert!(withheld_below(root.path()).unwrap().contains("no transparent huge pages"));
        let folder = root.path().join("sys/kernel/mm/transparent_hugepage");
        fs::create_dir_all(&folder).unwrap();
        for (text, given) in [("always madvise [never]", false), ("always [madvise] never", true)] {
            fs::write(folder.join("enabled"), text).unwrap();
            assert_eq!(withheld_below(root.path()).is_none(), given, "{text}");
        }
    }
}
