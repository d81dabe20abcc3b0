//! Arrays in pages of their own, and where those lie. What only a kernel with several nodes can answer skips elsewhere.

// Tests that move pages behind an array's back, or ask where a variable lies, make system calls themselves.
#![allow(unsafe_code)]

use crate::refusal;
use farrow::os::{
    affinity, host,
    memory::{Apart, Home, Pages, Residency, Site, nodes, stack_to},
};
use std::{
    fs,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const HUGE: usize = 2 << 20;

/// More than any array here has.
const ALL: usize = usize::MAX;

fn page() -> usize {
    // SAFETY: takes a number and returns one.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// The nodes with memory that this process may use.
fn usable() -> Vec<u32> {
    let allowed = nodes::allowed_below(Path::new("/"));
    let mut usable = nodes::with_memory().to_vec();
    usable.retain(|node| allowed.as_ref().is_none_or(|allowed| allowed.contains(node)));
    usable
}

/// The usable nodes, if the kernel has memory on several; else a line that says that `test` skips.
fn several(test: &str) -> Option<Vec<u32>> {
    if nodes::with_memory().len() > 1 {
        return Some(usable());
    }
    eprintln!("skipped: {test}: one NUMA node");
    None
}

fn small(home: Home) -> Site {
    Site { home, huge_pages: false }
}

/// Moves the page at `address` to `node`, or asks where it is; the node, or a negated error number.
fn page_on(address: usize, node: Option<i32>) -> i32 {
    let (place, mut status) = (address / page() * page(), -1i32);
    let node = node.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: one address, one node or none, and one place for the answer; moving a page changes no byte of it.
    let answer =
        unsafe { libc::syscall(libc::SYS_move_pages, 0, 1usize, &raw const place, node, &raw mut status, 2) };
    assert!(answer >= 0, "{}", std::io::Error::last_os_error());
    status
}

/// The figure after `key:` in the mapping that holds `address`, in KiB.
fn mapping_kib(address: usize, key: &str) -> usize {
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let mut lines = maps.lines().skip_while(|line| {
        let range = line.split_whitespace().next().and_then(|first| first.split_once('-'));
        let parse = |text| usize::from_str_radix(text, 16).ok();
        !range.is_some_and(|(low, high)| {
            parse(low).zip(parse(high)).is_some_and(|(l, h)| l <= address && address < h)
        })
    });
    let line = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).expect("the mapping tells it");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn an_array_starts_at_a_page_and_a_large_one_at_a_huge_page() {
    for len in [0, 1, page() / 8, page() / 8 + 1, HUGE / 8 - 1, HUGE / 8, HUGE, 3 * HUGE / 8 + 5] {
        for huge_pages in [false, true] {
            let mut array = Pages::<u64>::placed(len, &Site { home: Home::FirstTouch, huge_pages });
            assert_eq!(array.len(), len);
            assert!(array.iter().all(|&element| element == 0));
            let bound = if len * 8 >= HUGE { HUGE } else { page() };
            assert!(len == 0 || (array.as_ptr() as usize).is_multiple_of(bound), "{len}: {:p}", array.as_ptr());
            array.iter_mut().enumerate().for_each(|(i, element)| *element = i as u64);
            assert!(array.iter().enumerate().all(|(i, &element)| element == i as u64));
        }
    }
}

/// How often the kernel had no huge page for a fault that wanted one.
fn fallbacks() -> u64 {
    let text = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let count = text.lines().find_map(|line| line.strip_prefix("thp_fault_fallback "));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[test]
fn huge_pages_are_had_where_asked_for_and_end_before_the_array_does() {
    let enabled = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if !enabled.contains("[madvise]") && !enabled.contains("[always]") {
        eprintln!("skipped: huge pages are not to be had here: {enabled:?}");
        return;
    }
    let len = 4 * HUGE + 100 * page();
    let taken = |site: &Site| {
        let array = Pages::<u8>::placed(len, site);
        array.populate(0..len).unwrap();
        assert_eq!(array.record(ALL).bytes_untouched, 0);
        array
    };
    let without = taken(&small(Home::FirstTouch));
    // A kernel whose memory is in pieces falls back to small pages, and counts that.
    let mut tries = (0..10).map(|_| {
        let before = fallbacks();
        let with = taken(&Site::default());
        let huge_kib = mapping_kib(with.as_ptr() as usize, "AnonHugePages");
        assert!(huge_kib == 4 * HUGE / 1024 || fallbacks() > before, "{huge_kib} KiB, and no fallback");
        (huge_kib == 4 * HUGE / 1024).then_some(with)
    });
    let Some(with) = tries.find_map(|with| with) else {
        eprintln!("skipped: the kernel has no huge pages left");
        return;
    };
    assert_eq!(mapping_kib(without.as_ptr() as usize, "AnonHugePages"), 0);
    let tail = with.as_ptr() as usize + 4 * HUGE;
    assert_eq!(mapping_kib(tail, "AnonHugePages"), 0);
}

#[test]
fn threads_that_share_out_the_elements_take_every_page_and_change_none() {
    let len = 3 * page() + 17;
    let mut array = Pages::<u32>::placed(len, &small(Home::FirstTouch));
    assert_eq!(array.record(ALL).bytes_untouched, (len * 4).next_multiple_of(page()) as u64);
    array[1] = 5;
    array[len - 1] = 7;
    let cuts: Vec<usize> = (0..=7).map(|worker| len * worker / 7).collect();
    thread::scope(|scope| {
        for cut in cuts.windows(2) {
            let array = &array;
            scope.spawn(move || array.populate(cut[0]..cut[1]).unwrap());
        }
    });
    let residency = array.record(ALL);
    assert_eq!(residency.bytes_untouched, 0);
    assert_eq!(residency.bytes_placed(), (len * 4).next_multiple_of(page()) as u64);
    assert!(residency.met(), "{residency:?}");
    assert_eq!((array[0], array[1], array[len - 1]), (0, 5, 7));
}

#[test]
fn a_page_on_a_bound_belongs_to_the_range_that_begins_in_it() {
    let array = Pages::<u8>::placed(4 * page(), &small(Home::FirstTouch));
    let touched = || 4 * page() as u64 - array.record(ALL).bytes_untouched;
    array.populate(0..page() + 1).unwrap();
    assert_eq!(touched(), page() as u64);
    array.populate(page() + 1..2 * page()).unwrap();
    assert_eq!(touched(), 2 * page() as u64);
    array.populate(3 * page() + 9..usize::MAX).unwrap();
    assert_eq!(touched(), 3 * page() as u64);
    array.populate(usize::MAX..usize::MAX).unwrap();
    array.populate(5..5).unwrap();
    assert_eq!(touched(), 3 * page() as u64);
    Pages::<u8>::zeroed(0).populate(0..9).unwrap();
}

#[test]
fn a_sample_says_how_many_pages_of_how_many_it_asked_for() {
    let array = Pages::<u8>::placed(1000 * page(), &small(Home::FirstTouch));
    array.populate(0..500 * page()).unwrap();
    let all = array.record(ALL);
    assert_eq!((all.pages, all.pages_asked), (1000, 1000));
    assert_eq!((all.bytes_untouched, all.bytes_placed()), (500 * page() as u64, 500 * page() as u64));
    // Spaced evenly, so half of the sample is in the half that was taken.
    let sample = array.record(100);
    assert_eq!((sample.pages, sample.pages_asked), (1000, 100));
    assert_eq!((sample.bytes_untouched, sample.bytes_placed()), (50 * page() as u64, 50 * page() as u64));
    let nothing = array.record(0);
    assert_eq!((nothing.pages_asked, nothing.bytes_placed(), nothing.met()), (0, 0, true));
    assert_eq!(Pages::<u8>::zeroed(0).record(ALL), Residency::default());
}

#[test]
fn runs_are_equal_shares_of_the_elements_rounded_down_to_pages() {
    let node = usable()[0];
    let len = 10 * page() / 8 + 3;
    let array = Pages::<u64>::placed(len, &small(Home::Runs(vec![node; 4])));
    assert_eq!(array.refused(), None);
    for run in 0..4 {
        let begin = len * run / 4 * 8 / page() * page();
        let end =
            if run == 3 { (len * 8).next_multiple_of(page()) } else { len * (run + 1) / 4 * 8 / page() * page() };
        assert_eq!(array.run_bytes(run), begin..end);
    }
    array.populate(0..len).unwrap();
    let residency = array.record(ALL);
    assert!(residency.met() && residency.bytes_by_node.keys().eq([&node]), "{residency:?}");
    // More runs than pages: most are empty.
    let tiny = Pages::<u64>::placed(5, &small(Home::Runs(vec![node; 9])));
    assert_eq!((0..9).map(|run| tiny.run_bytes(run).len()).sum::<usize>(), page());
    tiny.populate(0..5).unwrap();
    assert!(tiny.record(ALL).met());
}

#[test]
fn a_node_that_is_not_there_is_a_reason_and_the_array_works() {
    let node = usable()[0];
    for absent in [62, 63, 64, 1023, 1024, 1_000_000, u32::MAX] {
        for home in [Home::Node(absent), Home::Interleave(vec![node, absent]), Home::Runs(vec![node, absent])] {
            let mut array = Pages::<f64>::placed(5000, &Site::at(home.clone()));
            let reason = array.refused().unwrap_or_else(|| panic!("{home:?} was met")).to_string();
            // A set that was narrowed is told by what is left of it.
            assert!(reason.contains(&absent.to_string()), "{home:?}: {reason}");
            array[4999] = 1.0;
            let residency = array.record(ALL);
            assert_eq!((residency.refused.clone(), residency.met()), (vec![reason], false));
        }
        assert!(stack_to(absent).unwrap_err().contains(&absent.to_string()));
    }
    for home in [Home::Interleave(vec![]), Home::Runs(vec![])] {
        let array = Pages::<f64>::placed(5000, &Site::at(home));
        assert!(array.refused().unwrap().contains("no node was named"));
    }
}

#[test]
fn arrays_of_one_owner_add_up() {
    let node = usable()[0];
    let array = |pages: usize, home| {
        let array = Pages::<u8>::placed(pages * page(), &small(home));
        array.populate(0..(pages - 1) * page()).unwrap();
        array.record(ALL)
    };
    let mut sum = Residency::default();
    assert!(sum.met());
    sum.add(&array(3, Home::Node(node)));
    sum.add(&array(5, Home::Node(node)));
    assert!(sum.met(), "{sum:?}");
    assert_eq!((sum.pages, sum.pages_asked, sum.bytes_untouched), (8, 8, 2 * page() as u64));
    assert_eq!(sum.bytes_by_node, [(node, 6 * page() as u64)].into());
    let json = serde_json::to_value(&sum).unwrap();
    assert_eq!(json["bytes_by_node"][node.to_string()], 6 * page());
    assert_eq!(json["not_told"], serde_json::Value::Null);
    // The same reason twice is one reason.
    for _ in 0..2 {
        sum.add(&array(2, Home::Node(1023)));
    }
    assert_eq!((sum.refused.len(), sum.met(), sum.pages), (1, false, 12));
    assert_eq!((sum.bytes_misplaced, sum.bytes_placed()), (2 * page() as u64, 8 * page() as u64));
}

/// Counts how often it was dropped.
struct Counted(Arc<AtomicUsize>, [u64; 40]);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_value_apart_has_a_page_of_its_own_and_is_dropped_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let node = usable()[0];
    let mut apart = Apart::new(Counted(drops.clone(), [3; 40]), &small(Home::Node(node)));
    let other = Apart::new(Counted(drops.clone(), [4; 40]), &Site::default());
    assert!((&raw const *apart as usize).is_multiple_of(page()));
    apart.1[39] = 9;
    assert_eq!((apart.1[0], apart.1[39], other.1[39]), (3, 9, 4));
    let residency = apart.record(ALL);
    assert_eq!(residency.bytes_by_node, [(node, page() as u64)].into());
    assert!(residency.met() && *apart.home() == Home::Node(node));
    drop(apart);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
    thread::spawn(move || drop(other)).join().unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 2);
    let nothing = Apart::new((), &Site::default());
    assert_eq!((*nothing, nothing.record(ALL).pages), ((), 0));
}

#[test]
fn a_kernel_that_cannot_populate_takes_the_pages_all_the_same() {
    const CHILD: &str = "FARROW_TEST_WITHOUT_POPULATE";
    const NAME: &str = "memory::a_kernel_that_cannot_populate_takes_the_pages_all_the_same";
    if std::env::var_os(CHILD).is_some() {
        let mut array = Pages::<u8>::placed(40 * page(), &small(Home::FirstTouch));
        // The filter is in force: the advice itself is refused.
        // SAFETY: populating changes no byte, and the place is the array's.
        let refused = unsafe { libc::madvise(array.as_mut_ptr().cast(), page(), libc::MADV_POPULATE_WRITE) };
        assert_eq!(refused, -1);
        array[3] = 8;
        array.populate(0..33 * page()).unwrap();
        let residency = array.record(ALL);
        assert_eq!((residency.bytes_placed(), array[3]), (33 * page() as u64, 8));
        return;
    }
    passes_in_a_child(NAME, CHILD, refusal::without_populate);
}

/// What a container leaves of placement.
fn refused_child() {
    let nodes = usable();
    let homes = [Home::Node(nodes[0]), Home::Interleave(nodes.clone()), Home::Runs(nodes.clone())];
    for home in homes {
        let mut array = Pages::<f64>::placed(HUGE, &Site::at(home));
        array.populate(0..1000).unwrap();
        array[HUGE - 1] = 2.5;
        assert_eq!((array[0], array[HUGE - 1]), (0.0, 2.5));
        let residency = array.gather_home(ALL);
        if nodes::with_memory().len() == 1 {
            assert_eq!(array.refused(), None, "one node needs no placement, and no warning");
            assert!(residency.met() && residency.bytes_placed() >= 2 * page() as u64, "{residency:?}");
            assert!(residency.bytes_untouched > 0, "{residency:?}");
        } else {
            let reason = array.refused().unwrap();
            assert!(reason.starts_with("placement unavailable: mbind is refused"), "{reason}");
            assert!(reason.ends_with(", continuing") && reason.contains("not permitted"), "{reason}");
            assert!(residency.not_told.as_ref().unwrap().contains("move_pages"), "{residency:?}");
            assert_eq!((residency.pages_asked, residency.met(), residency.refused.len()), (0, false, 1));
        }
    }
    assert_eq!(stack_to(nodes[0]).is_ok(), nodes::with_memory().len() == 1);
    let free = Pages::<f64>::zeroed(5);
    assert_eq!(free.refused(), None, "what has no home is refused nothing");
}

#[test]
fn where_placement_is_refused_work_goes_on_and_the_array_says_so() {
    const CHILD: &str = "FARROW_TEST_REFUSED";
    if std::env::var_os(CHILD).is_some() {
        return refused_child();
    }
    let name = "memory::where_placement_is_refused_work_goes_on_and_the_array_says_so";
    passes_in_a_child(name, CHILD, refusal::refused);
}

/// Runs the test `name` again in a process that `prepare` has filtered and in which `variable` is set.
fn passes_in_a_child(name: &str, variable: &str, prepare: fn(&mut Command) -> &mut Command) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]).env(variable, "1");
    prepare(&mut command);
    let Some(output) = refusal::output(name, &mut command) else { return };
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Pages of 4 MiB and a bit at `home`, all touched by this thread.
fn touched(home: Home, huge_pages: bool) -> Pages<u8> {
    let len = 2 * HUGE + 37 * page() + 1;
    let array = Pages::placed(len, &Site { home, huge_pages });
    assert_eq!(array.refused(), None);
    array.populate(0..len).unwrap();
    array
}

#[test]
fn every_page_lies_on_the_node_named() {
    let Some(nodes) = several("every_page_lies_on_the_node_named") else { return };
    for &node in &nodes {
        for huge_pages in [false, true] {
            let array = touched(Home::Node(node), huge_pages);
            let residency = array.record(ALL);
            assert!(residency.met(), "{residency:?}");
            assert_eq!(residency.bytes_by_node, [(node, residency.pages * page() as u64)].into());
        }
        let apart = Apart::new([1u8; 9999], &Site::at(Home::Node(node)));
        assert!(apart.record(ALL).met());
        assert_eq!(page_on(&raw const *apart as usize, None), node as i32);
    }
}

#[test]
fn interleaved_pages_are_dealt_out_evenly() {
    let Some(nodes) = several("interleaved_pages_are_dealt_out_evenly") else { return };
    let array = touched(Home::Interleave(nodes.clone()), false);
    let residency = array.record(ALL);
    assert!(residency.met(), "{residency:?}");
    assert_eq!(residency.bytes_by_node.keys().copied().collect::<Vec<_>>(), nodes);
    let share = residency.pages / nodes.len() as u64;
    for (node, bytes) in &residency.bytes_by_node {
        assert!((bytes / page() as u64).abs_diff(share) <= 1, "node {node}: {bytes} bytes, {share} pages expected");
    }
}

#[test]
fn runs_lie_each_on_its_node() {
    let Some(mut nodes) = several("runs_lie_each_on_its_node") else { return };
    nodes.reverse();
    nodes.push(nodes[0]);
    for huge_pages in [false, true] {
        let array = touched(Home::Runs(nodes.clone()), huge_pages);
        let residency = array.record(ALL);
        assert!(residency.met(), "{residency:?}");
        for (run, &node) in nodes.iter().enumerate() {
            let bytes = array.run_bytes(run);
            for at in [bytes.start, bytes.end - 1] {
                assert_eq!(page_on(array.as_ptr() as usize + at, None), node as i32, "run {run}, byte {at}");
            }
        }
    }
}

#[test]
fn pages_that_strayed_are_counted_and_brought_home() {
    let Some(nodes) = several("pages_that_strayed_are_counted_and_brought_home") else { return };
    let _no_forks = refusal::FORKS.read();
    let [home, away, ..] = nodes[..] else { return eprintln!("skipped: one node may be used") };
    let homes = [Home::Node(home), Home::Interleave(vec![home]), Home::Runs(vec![home, home])];
    for wanted in homes {
        let array = touched(wanted, false);
        for page_number in 3..8 {
            // The kernel may find the page busy.
            let place = array.as_ptr() as usize + page_number * page();
            while page_on(place, None) != away as i32 {
                page_on(place, Some(away as i32));
            }
        }
        let strayed = array.record(ALL);
        assert_eq!((strayed.bytes_misplaced, strayed.met()), (5 * page() as u64, false));
        let back = array.gather_home(ALL);
        assert!(back.met(), "{back:?}");
        assert_eq!(back.bytes_by_node, [(home, back.pages * page() as u64)].into());
    }
}

#[test]
fn a_policy_that_the_kernel_narrows_is_told() {
    let Some(usable) = several("a_policy_that_the_kernel_narrows_is_told") else { return };
    let online = fs::read_to_string("/sys/devices/system/node/online").unwrap();
    let online = farrow::cpulist::parse(&online).unwrap();
    let Some(&other) = online.iter().find(|node| !usable.contains(node)) else {
        return eprintln!("skipped: all nodes may be used");
    };
    let array = Pages::<u8>::placed(9, &Site::at(Home::Interleave(online)));
    let reason = array.refused().unwrap();
    let left = farrow::cpulist::format(&usable);
    assert!(reason.contains(&format!("left out all but nodes {left} (")), "{reason}");
    let array = Pages::<u8>::placed(9, &Site::at(Home::Node(other)));
    let reason = array.refused().unwrap();
    assert!(reason.starts_with(&format!("node {other}: no memory there that this process may use")), "{reason}");
    assert!(stack_to(other).unwrap_err().contains("no memory there"));
}

#[test]
fn a_stack_goes_to_the_node_named() {
    stack_to(usable()[0]).unwrap();
    let Some(nodes) = several("a_stack_goes_to_the_node_named") else { return };
    let _no_forks = refusal::FORKS.read();
    for node in nodes {
        let worker = move || {
            let deep = [node as u8; 30000];
            stack_to(node).unwrap();
            let deeper = std::hint::black_box([node as u8; 40000]);
            assert_eq!(deep[29999], deeper[0]);
            [&raw const deep[0] as usize, &raw const deep[29999] as usize, &raw const deeper[20000] as usize]
                .map(|address| page_on(address, None))
        };
        assert_eq!(thread::spawn(worker).join().unwrap(), [node as i32; 3]);
    }
}

#[test]
fn pages_that_the_kernel_balances_are_found_all_the_same() {
    let Some(_) = several("pages_that_the_kernel_balances_are_found_all_the_same") else { return };
    if !host::balancing() {
        return eprintln!("skipped: automatic balancing is off");
    }
    // Read from one cpu after another, so that the kernel hides and moves its pages.
    let array = touched(Home::FirstTouch, false);
    let whole = array.record(ALL).pages * page() as u64;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(5) {
        for cpu in affinity::at_start().unwrap() {
            thread::scope(|scope| {
                scope.spawn(|| {
                    affinity::bind(&[cpu]);
                    assert_eq!(array.iter().step_by(64).filter(|&&byte| byte != 0).count(), 0);
                });
            });
            let residency = array.record(ALL);
            assert_eq!((residency.bytes_placed(), residency.bytes_untouched), (whole, 0), "{residency:?}");
        }
    }
}
