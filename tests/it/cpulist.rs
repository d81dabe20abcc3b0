//! The kernel's lists of cpus, read and written.

use farrow::topology::cpulist::{LARGEST, format, parse};
use proptest::prelude::*;

#[test]
fn lists_of_taskset_and_of_the_kernel_are_read_in_the_order_written() {
    assert_eq!(parse("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
    assert_eq!(parse("0-10:2").unwrap(), [0, 2, 4, 6, 8, 10]);
    assert_eq!(parse("0-9:4").unwrap(), [0, 4, 8]);
    assert_eq!(parse(" 7 , 2-3\n").unwrap(), [7, 2, 3]);
    assert_eq!(parse("1024,1048575").unwrap(), [1024, LARGEST]);
}

#[test]
fn what_is_no_list_is_an_error_that_shows_the_part() {
    for (text, part) in [
        ("", "empty"),
        ("  ", "empty"),
        ("1,,2", "between two commas"),
        ("1,", "at an end"),
        ("a", "`a`"),
        ("0x3", "`0x3`"),
        ("-1", "`-1`"),
        ("+1", "`+1`"),
        ("1-", "`1-`"),
        ("3-1", "from 3 down to 1"),
        ("0-8:0", "stride of 0"),
        ("0-8:", "`0-8:`"),
        ("4:2", "`4:2`"),
        ("0-3,2", "lists 2 twice"),
        ("0-4294967295", "4294967295"),
        ("99999999999999999999", "largest"),
    ] {
        let message = parse(text).expect_err(text).to_string();
        assert!(message.contains(part), "{text:?} gave {message:?}, which lacks {part:?}");
        assert!(message.contains("0-10:2"), "{message:?} shows no example");
    }
}

proptest! {
    #[test]
    fn a_formatted_list_reads_back(numbers in proptest::collection::btree_set(0u32..5000, 1..200)) {
        let ascending: Vec<u32> = numbers.into_iter().collect();
        prop_assert_eq!(parse(&format(&ascending)).unwrap(), ascending);
    }
}

#[test]
fn runs_are_written_as_ranges_and_nothing_as_none() {
    assert_eq!(format(&[8, 0, 1, 2, 3, 3]), "0-3,8");
    assert_eq!(format(&[]), "none");
}
