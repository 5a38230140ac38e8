//! The book as a whole: its table of contents, its links, what stands in it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::fences::fences;

/// The folder of the book.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

pub(crate) fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// All pages, by their paths in the book.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(folder().join(&below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push((path, fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    pages.sort();
    pages
}

/// The places to which a page links in the checkout, without their anchors. What stands in fences and code is
/// no link.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut fence = None;
    for line in page.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(length) if ticks >= length => fence = None,
            Some(_) => {}
            None => {
                let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
                for rest in prose.split("](").skip(1) {
                    let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
                    if !target.is_empty() && !target.contains("://") {
                        links.push(target.to_owned());
                    }
                }
            }
        }
    }
    links
}

#[test]
fn every_page_stands_in_the_table_of_contents() {
    let summary = fs::read_to_string(folder().join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().map(PathBuf::from).collect();
    let there: BTreeSet<PathBuf> =
        pages().into_iter().map(|(path, _)| path).filter(|path| path != Path::new("SUMMARY.md")).collect();
    assert_eq!(listed, there, "docs/SUMMARY.md (left) and the pages that there are (right)");
}

#[test]
fn every_link_leads_somewhere() {
    for (page, text) in pages() {
        for link in links(&text) {
            let place = folder().join(&page).parent().unwrap().join(&link);
            assert!(place.exists(), "docs/{}: {link}", page.display());
            let depth =
                page.parent().unwrap().join(&link).components().try_fold(0_usize, |depth, part| match part {
                    Component::ParentDir => depth.checked_sub(1),
                    _ => Some(depth + 1),
                });
            assert!(depth.is_some(), "docs/{}: {link} leads out of the book", page.display());
        }
    }
}

#[test]
fn the_readme_is_short_and_its_links_lead_somewhere() {
    let text = fs::read_to_string(readme()).unwrap();
    assert!(text.lines().count() <= 120, "{} lines", text.lines().count());
    for link in links(&text) {
        assert!(folder().join("..").join(&link).exists(), "{link}");
    }
}

#[test]
fn every_block_is_of_a_kind_that_is_tried_or_shown() {
    const KINDS: [&str; 12] = [
        "console",
        "shell",
        "yaml",
        "json",
        "rust",
        "toml",
        "text",
        "diff",
        "markdown",
        "csv",
        "sql",
        "javascript",
    ];
    for (page, text) in pages() {
        for fence in fences(&text) {
            assert!(KINDS.contains(&fence.kind), "docs/{}:{}: `{}`", page.display(), fence.line, fence.kind);
        }
    }
}

#[test]
fn links_are_found_outside_of_code() {
    let page =
        "[a](x.md) `[b](y.md)` [c](z.md#part), [d](https://example.org)\n```\n[e](e.md)\n```\n[f](#here)\n";
    assert_eq!(links(page), ["x.md", "z.md"]);
}
