use super::*;

fn square(count: usize, group: usize, value: impl Fn(usize, usize) -> Option<f64>) -> Grid {
    let names: Vec<String> = (0..count).map(|i| i.to_string()).collect();
    Grid {
        title: "Line transfer".into(),
        unit: "ns".into(),
        rows: names.clone(),
        columns: names,
        values: (0..count).map(|i| (0..count).map(|j| value(i, j)).collect()).collect(),
        groups: (0..count).step_by(group).map(|begin| (begin, format!("node {}", begin / group))).collect(),
    }
}

/// The texts that pointers over cells show, of a picture that must be XML with nothing smaller than 11 px.
fn hovers(svg: &str) -> Vec<String> {
    let tree = roxmltree::Document::parse(svg).expect("XML");
    for node in tree.descendants() {
        if let Some(size) = node.attribute("font-size") {
            assert!(size.parse::<f64>().expect("a number") >= 11.0);
        }
        assert!(node.attribute("id").is_none(), "two pictures of a page would share it");
    }
    let titles = tree.descendants().filter(|node| node.has_tag_name("title")).skip(1);
    titles.map(|node| node.text().unwrap_or_default().to_string()).collect()
}

#[test]
fn each_cell_tells_its_value_and_what_is_missing_is_hatched() {
    let svg = heat_map(&square(2, 1, |i, j| (i != j).then_some(100.0 * (i + 1) as f64)));
    assert_eq!(hovers(&svg), ["0, 0: not measured", "0, 1: 100 ns", "1, 0: 200 ns", "1, 1: not measured"]);
    assert!(svg.contains("hatched: not measured") && svg.contains("node 1") && svg.contains(">200</text>"));
}

#[test]
fn large_machines_are_told_in_blocks_below_half_a_megabyte() {
    for (count, group, cells, block) in
        [(224, 28, 56 * 56, "4 × 4"), (448, 56, 64 * 64, "7 × 7"), (64, 8, 4096, "")]
    {
        let svg = heat_map(&square(count, group, |i, j| (i != j).then_some(1234.5 + (i * 7 + j) as f64)));
        assert_eq!(hovers(&svg).len(), cells, "{count}");
        assert!(svg.len() < 500_000, "{count}: {} bytes", svg.len());
        assert_eq!(svg.contains(&format!("(median of {block} cpus)")), !block.is_empty(), "{count}");
    }
}

#[test]
fn empty_single_constant_and_unmeasured_matrices_are_pictures_too() {
    for (grid, cells) in [
        (Grid::default(), 0),
        (square(1, 1, |_, _| Some(5.0)), 1),
        (square(3, 3, |_, _| Some(5.0)), 9),
        (square(3, 3, |_, _| None), 9),
        (square(3, 3, |i, _| Some([f64::NAN, f64::INFINITY, -1e300][i])), 9),
        (Grid { columns: vec!["only".into()], ..square(40, 8, |i, _| Some(i as f64)) }, 40),
    ] {
        assert_eq!(hovers(&heat_map(&grid)).len(), cells, "{grid:?}");
    }
    assert!(heat_map(&square(3, 3, |_, _| None)).contains("nothing was measured"));
}

#[test]
fn the_same_matrix_is_the_same_text_and_names_are_escaped() {
    let mut grid = square(3, 3, |i, j| Some((i + j) as f64));
    grid.title = "a < b & \"c\"".into();
    grid.rows[1] = "<svg>".into();
    grid.unit = "µs&".into();
    let svg = heat_map(&grid);
    assert_eq!(svg, heat_map(&grid));
    assert_eq!(hovers(&svg)[3], "<svg>, 0: 1 µs&");
    let tree = roxmltree::Document::parse(&svg).expect("XML");
    let title = tree.descendants().find(|node| node.has_tag_name("title")).expect("a title");
    assert_eq!(title.text(), Some("a < b & \"c\""));
}
