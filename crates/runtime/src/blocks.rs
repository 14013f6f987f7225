//! The blocks of the allocator: which there are, and those that were freed lately.
//!
//! Each block has a word where it begins (`chunks`), which says whether it is in use, and who allocated or freed it
//! where. A word that isn't there says nothing: the block may be older than the runtime.
//!
//! ```text
//! bit 63    62      21..53    0..21
//!     used  freed   thread    site
//! ```
//!
//! What is freed stays as it is for a while, in *quarantine*, marked in the shadow (`shadow::FREED`): nobody else gets
//! its memory, so whoever still uses it is noticed. First in, first out, as many bytes as the option `quarantine_mb` says.

use crate::chunks::{self, BLOCK};
use crate::context::Site;
use crate::held::{Held, Hold};
use crate::spin::Lock;
use crate::{control, options};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::collections::VecDeque;

const USED: u64 = 1 << 63;
const FREED: u64 = 1 << 62;
const THREAD_AT: u32 = 21;
/// What a block in quarantine costs besides its own bytes.
const OVERHEAD: usize = 64;
/// Where every execution begins anew, there is room.
const MOST_IN_EXPLORATIONS: usize = 64 << 20;
/// The largest interior pointer that is told from one to nowhere.
const FARTHEST: usize = 1 << 24;

/// Who did something, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Who {
    /// The thread's number.
    pub thread: u32,
    /// Where in the program, or unknown.
    pub site: Site,
}

impl Who {
    fn word(self) -> u64 {
        u64::from(self.thread) << THREAD_AT | u64::from(self.site.0)
    }

    fn of(word: u64) -> Who {
        Who { thread: (word >> THREAD_AT) as u32, site: Site(word as u32 & ((1 << THREAD_AT) - 1)) }
    }
}

/// What an address was when somebody wanted to free it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// The beginning of a block in use, which is freed by that.
    OfBlock {
        /// Who allocated it.
        allocated: Who,
    },
    /// The beginning of a block that was freed already.
    OfFreed {
        /// Who freed it.
        freed: Who,
    },
    /// Nothing is known of it.
    Unknown,
}

/// A block in quarantine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Where it begins.
    pub addr: usize,
    /// How many bytes it has.
    pub size: usize,
    /// Who allocated it.
    pub allocated: Who,
    /// Who freed it.
    pub freed: Who,
}

#[derive(Default)]
struct Quarantine {
    blocks: VecDeque<Kept>,
    bytes: usize,
}

static QUARANTINE: Lock<Option<Quarantine>> = Lock::new(None);

/// Around a fork.
pub fn held() -> &'static dyn Hold {
    static HELD: Held<Option<Quarantine>, 1> = Held::new(core::array::from_ref(&QUARANTINE));
    &HELD
}

/// A block begins its life.
pub fn begins(addr: usize, who: Who) {
    if let Some(chunk) = chunks::chunk(addr).filter(|_| addr.is_multiple_of(BLOCK)) {
        chunk.block(addr).store(USED | who.word(), Release);
    }
}

/// Whoever comes first ends the life of the block at this address.
pub fn ends(addr: usize, who: Who) -> Beginning {
    let Some(chunk) = chunks::existing(addr).filter(|_| addr.is_multiple_of(BLOCK)) else {
        return Beginning::Unknown;
    };
    let word = chunk.block(addr);
    let old = word.load(Acquire);
    let new = FREED | who.word();
    if old & USED != 0 && word.compare_exchange(old, new, AcqRel, Acquire).is_ok() {
        return Beginning::OfBlock { allocated: Who::of(old) };
    }
    match word.load(Acquire) {
        old if old & FREED != 0 => Beginning::OfFreed { freed: Who::of(old) },
        _ => Beginning::Unknown,
    }
}

/// Is there a block in use that begins here?
pub fn is_used(addr: usize) -> bool {
    addr.is_multiple_of(BLOCK)
        && chunks::existing(addr).is_some_and(|chunk| chunk.block(addr).load(Acquire) & USED != 0)
}

/// The block in use before this address that is next to it: where it begins, and who allocated it.
pub fn before(addr: usize) -> Option<(usize, Who)> {
    let last = addr & !(BLOCK - 1);
    let addresses = (0..FARTHEST / BLOCK).map_while(|back| last.checked_sub(back * BLOCK));
    addresses
        .map_while(|at| Some((at, chunks::existing(at)?.block(at).load(Acquire))))
        .find_map(|(at, word)| (word & USED != 0).then(|| (at, Who::of(word))))
}

/// The bytes that may be in quarantine.
fn most() -> usize {
    let most = options::get().quarantine_mb << 20;
    if control::active() && most > 0 { most.max(MOST_IN_EXPLORATIONS) } else { most }
}

/// Is a block of this size to be kept when it is freed? One that would push too many others out isn't.
pub fn is_worth_keeping(size: usize) -> bool {
    size + OVERHEAD <= most() / 4
}

/// A block goes into quarantine. The current thread is inside the runtime.
pub fn keep(block: Kept) {
    let mut quarantine = QUARANTINE.lock();
    let quarantine = quarantine.get_or_insert_default();
    quarantine.bytes += block.size + OVERHEAD;
    quarantine.blocks.push_back(block);
}

/// A block that has been in quarantine for long enough, if there is one. The current thread is inside the runtime.
pub fn excess() -> Option<Kept> {
    let most = most();
    let mut quarantine = QUARANTINE.lock();
    let quarantine = quarantine.as_mut().filter(|quarantine| quarantine.bytes > most)?;
    let block = quarantine.blocks.pop_front()?;
    quarantine.bytes -= block.size + OVERHEAD;
    // The one that will be next was last touched long ago.
    if let Some(next) = quarantine.blocks.front() {
        chunks::prefetch_cells(next.addr, next.size);
    }
    Some(block)
}

/// The block in quarantine that holds this address. The current thread is inside the runtime.
pub fn find(addr: usize) -> Option<Kept> {
    let quarantine = QUARANTINE.lock();
    let mut blocks = quarantine.as_ref()?.blocks.iter().rev();
    blocks.find(|block| addr.wrapping_sub(block.addr) < block.size).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        crate::start();
        let addr = 0x5_0000_0000;
        let (one, two) = (Who { thread: 7, site: Site(9) }, Who { thread: u32::MAX, site: Site(0x1f_ffff) });
        assert_eq!(ends(addr, one), Beginning::Unknown);
        begins(addr, two);
        assert!(is_used(addr) && !is_used(addr + 8) && !is_used(addr + 16));
        assert_eq!(before(addr + 100), Some((addr, two)));
        assert_eq!(ends(addr + 8, one), Beginning::Unknown);
        assert_eq!(ends(addr, one), Beginning::OfBlock { allocated: two });
        assert_eq!(ends(addr, two), Beginning::OfFreed { freed: one });
        assert_eq!(before(addr + 100), None);
    }

    #[test]
    fn first_in_first_out() {
        crate::start();
        const SIZE: usize = (1 << 16) - OVERHEAD;
        let block =
            |at: usize| Kept { addr: at << 16, size: SIZE, allocated: Who::default(), freed: Who::default() };
        let many = most() >> 16;
        let out = |at| {
            keep(block(at));
            excess().map(|block| block.addr >> 16)
        };
        assert!((1..=many).all(|at| out(at).is_none()));
        assert_eq!(find((1 << 16) + 5), Some(block(1)));
        assert_eq!([out(100), out(101)], [Some(1), Some(2)]);
        assert_eq!((find((1 << 16) + 5), find((101 << 16) + SIZE)), (None, None));
        assert_eq!(find((101 << 16) + SIZE - 1), Some(block(101)));
        assert!(is_worth_keeping(1000) && !is_worth_keeping(most() / 2));
    }
}
