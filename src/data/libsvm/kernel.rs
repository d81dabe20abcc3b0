//! Where blanks, colons and points stand in 32 bytes of text. Plain loops over bytes take eight times as long, since
//! compilers make no masks of them; on x86-64 this is SSE2, which every one has. [`plain`] is the twin that tests hold it
//! to, and what other processors run.

// Instructions of the processor's that have no safe name.
#![allow(unsafe_code)]

/// Bytes that are looked at.
pub(super) const SPAN: usize = 32;

/// Where in the bytes something stands, bit i for byte i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// Blanks and all control characters, the line end too.
    pub(super) ends: u32,
    pub(super) colons: u32,
    pub(super) points: u32,
}

/// Where they stand.
#[inline]
pub(super) fn places(bytes: &[u8; SPAN]) -> Places {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the processor must have SSE2, which is part of x86-64.
    unsafe {
        sse2(bytes)
    }
    #[cfg(not(target_arch = "x86_64"))]
    plain(bytes)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn sse2(bytes: &[u8; SPAN]) -> Places {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_set1_epi8,
    };
    let start: *const __m128i = bytes.as_ptr().cast();
    // SAFETY: both loads must lie within one object: they are the two halves of `bytes`. No alignment is asked for.
    let (low, high) = unsafe { (_mm_loadu_si128(start), _mm_loadu_si128(start.add(1))) };
    let (blank, colon, point) = (_mm_set1_epi8(b' ' as i8), _mm_set1_epi8(b':' as i8), _mm_set1_epi8(b'.' as i8));
    let joined = |low, high| (_mm_movemask_epi8(low) as u32) | ((_mm_movemask_epi8(high) as u32) << 16);
    Places {
        ends: joined(
            _mm_cmpeq_epi8(_mm_min_epu8(low, blank), low),
            _mm_cmpeq_epi8(_mm_min_epu8(high, blank), high),
        ),
        colons: joined(_mm_cmpeq_epi8(low, colon), _mm_cmpeq_epi8(high, colon)),
        points: joined(_mm_cmpeq_epi8(low, point), _mm_cmpeq_epi8(high, point)),
    }
}

/// [`places`] in the plainest words.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(bytes: &[u8; SPAN]) -> Places {
    let mask = |of: fn(u8) -> bool| (0..SPAN).fold(0, |mask, at| mask | (u32::from(of(bytes[at])) << at));
    Places { ends: mask(|byte| byte <= b' '), colons: mask(|byte| byte == b':'), points: mask(|byte| byte == b'.') }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_the_plain_twin(bytes in any::<[u8; SPAN]>(), common in any::<[u8; SPAN]>()) {
            prop_assert_eq!(places(&bytes), plain(&bytes));
            let common = common.map(|byte| b" 0:1.\n-e"[byte as usize % 8]);
            prop_assert_eq!(places(&common), plain(&common));
        }
    }
}
