//! Where the program is: the call stack of each thread, and small numbers for "this instruction, called this way".
//!
//! `__tsan_func_entry` and `_exit` keep a [`Stack`] per thread: a store or two, nothing else. Only when an access needs
//! to be remembered its stack is given a number: a *context* is a call path, interned as (context of the caller, call
//! site); a [`Site`] is (context, instruction). Frames remember their context, so only frames entered since the last
//! access are looked up; a small cache per thread stands in front of the shared tables.
//!
//! A call site that is on the path already leads back to the context it had there: a recursion is cut to one round,
//! which is still a possible path, and there are no more contexts than paths without repetition. When a table is full,
//! the site has the instruction without its callers, and at last no number at all: [`Site::UNKNOWN`].

mod table;

use crate::sys;
use table::Table;

/// An instruction and how it was called, below 2²¹.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Site(pub u32);

impl Site {
    /// Nothing is known.
    pub const UNKNOWN: Site = Site(0);
}

const SITE_BITS: u32 = 21;
const CONTEXT_BITS: u32 = 20;

static CONTEXTS: Table = Table::new(1 << CONTEXT_BITS);
static SITES: Table = Table::new(1 << SITE_BITS);

/// The context of a thread's outermost function. Numbers from the table start at 1, so 0 can mean "not looked up yet"
/// in a frame only if the outermost context has a number of its own.
const OUTERMOST: u32 = (1 << CONTEXT_MASK_BITS) - 1;
const CONTEXT_MASK_BITS: u32 = 21;
const CONTEXT_MASK: u64 = (1 << CONTEXT_MASK_BITS) - 1;

/// A function that was entered and not left.
#[derive(Clone, Copy)]
struct Frame {
    /// The return address: where its caller goes on.
    pc: usize,
    /// `stack pointer / 16 << 21 | context`, context 0 if not looked up yet.
    place: u64,
}

/// Deeper frames are counted, not recorded.
const CAPACITY: usize = 1 << 16;
const CACHE: usize = 512;

#[derive(Clone, Copy)]
struct Cached {
    pc: usize,
    context: u32,
    site: Site,
}

/// In one mapping, touched as far as it is used.
struct Memory {
    cache: [Cached; CACHE],
    /// The first frame is the bottom: never left, its stack pointer above all others.
    frames: [Frame; CAPACITY],
}

/// The functions that a thread is in.
pub struct Stack {
    memory: *mut Memory,
    /// The number of frames above the bottom, those that weren't recorded included.
    depth: usize,
}

// SAFETY: the memory belongs to the stack.
unsafe impl Send for Stack {}

impl Stack {
    /// An empty stack.
    pub fn new() -> Self {
        let memory = sys::reserve(size_of::<Memory>()).cast::<Memory>();
        // SAFETY: fresh memory, all zero, which is a valid `Memory`: an entry of the cache with pc 0 fits nothing.
        unsafe { (*memory).frames[0] = Frame { pc: 0, place: !CONTEXT_MASK | u64::from(OUTERMOST) } };
        Stack { memory, depth: 0 }
    }

    /// Forgets all frames: a new thread takes over.
    pub fn reset(&mut self) {
        self.depth = 0;
    }

    /// The number of functions that were entered and not left.
    pub fn depth(&self) -> usize {
        self.depth
    }

    #[inline(always)]
    fn frame(&mut self, index: usize) -> &mut Frame {
        debug_assert!(index < CAPACITY);
        // SAFETY: callers keep the index below the capacity.
        unsafe { &mut *(&raw mut (*self.memory).frames).cast::<Frame>().add(index) }
    }

    /// A function was entered; it returns to `pc`. Frames that lie below the stack pointer were left without a word
    /// (`longjmp`): they are dropped.
    #[inline(always)]
    pub fn enter(&mut self, pc: usize, sp: usize) {
        let place = (sp as u64) >> 4 << CONTEXT_MASK_BITS;
        if self.depth >= CAPACITY - 1 || self.frame(self.depth).place < place + CONTEXT_MASK {
            return self.enter_slowly(pc, place);
        }
        self.depth += 1;
        *self.frame(self.depth) = Frame { pc, place };
    }

    #[cold]
    fn enter_slowly(&mut self, pc: usize, place: u64) {
        /// Stack pointers that are further apart belong to different stacks (signals, coroutines): nothing was left.
        const ONE_STACK: u64 = (1 << 26 >> 4) << CONTEXT_MASK_BITS;
        let mut top = self.depth.min(CAPACITY - 1);
        while self.frame(top).place < place + CONTEXT_MASK
            && place - (self.frame(top).place & !CONTEXT_MASK) < ONE_STACK
        {
            top -= 1;
            self.depth = top;
        }
        self.depth += 1;
        if self.depth < CAPACITY {
            *self.frame(self.depth) = Frame { pc, place };
        }
    }

    /// Was the innermost function entered with this stack pointer? It keeps it as long as it is in its body.
    #[inline]
    pub fn is_innermost(&mut self, sp: usize) -> bool {
        let top = self.depth;
        top > 0 && top < CAPACITY && self.frame(top).place >> CONTEXT_MASK_BITS == (sp as u64) >> 4
    }

    /// A function was left.
    #[inline(always)]
    pub fn exit(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The number of the instruction before `pc`, called as it is now.
    #[inline(always)]
    pub fn site(&mut self, pc: usize) -> Site {
        let mut context = (self.frame(self.depth.min(CAPACITY - 1)).place & CONTEXT_MASK) as u32;
        if context == 0 {
            context = self.context();
        }
        let cached = self.cached(pc, context);
        if cached.pc == pc && cached.context == context {
            return cached.site;
        }
        self.site_slowly(pc, context)
    }

    #[inline(always)]
    fn cached(&mut self, pc: usize, context: u32) -> &mut Cached {
        let hash = (pc as u64 ^ (u64::from(context) << 20)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // SAFETY: the index is below the length of the cache.
        unsafe {
            &mut *(&raw mut (*self.memory).cache).cast::<Cached>().add(hash as usize >> (64 - CACHE.ilog2()))
        }
    }

    #[cold]
    fn site_slowly(&mut self, pc: usize, context: u32) -> Site {
        let site = SITES.find_or_add(context, pc).or_else(|| SITES.find_or_add(OUTERMOST, pc));
        let site = Site(site.unwrap_or(0));
        *self.cached(pc, context) = Cached { pc, context, site };
        site
    }

    /// The context of the innermost frame: looks up the frames that have none yet, from the outside in.
    #[inline(never)]
    fn context(&mut self) -> u32 {
        let top = self.depth.min(CAPACITY - 1);
        let mut known = top;
        while self.frame(known).place & CONTEXT_MASK == 0 {
            known -= 1;
        }
        let mut context = (self.frame(known).place & CONTEXT_MASK) as u32;
        for index in known + 1..=top {
            context = enter_context(context, self.frame(index).pc);
            self.frame(index).place |= u64::from(context);
        }
        context
    }
}

impl Default for Stack {
    fn default() -> Self {
        Stack::new()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: mapped with this size, and nobody else's.
        unsafe { sys::munmap(self.memory.cast(), size_of::<Memory>()) };
    }
}

/// The context inside of a call at `pc` in `caller`.
fn enter_context(caller: u32, pc: usize) -> u32 {
    if let Some(context) = CONTEXTS.find(caller, pc) {
        return context;
    }
    let mut outer = caller;
    while outer != OUTERMOST {
        let (parent, call) = CONTEXTS.get(outer);
        if call == pc {
            return outer;
        }
        outer = parent;
    }
    CONTEXTS.find_or_add(caller, pc).unwrap_or(caller)
}

/// Return addresses, innermost first: the access itself, then the calls that led to it. Empty for an unknown site.
pub fn frames(site: Site) -> Vec<usize> {
    if site == Site::UNKNOWN {
        return Vec::new();
    }
    let (mut context, pc) = SITES.get(site.0);
    let mut pcs = vec![pc];
    // 0 is the parent of entries that don't exist.
    while context != OUTERMOST && context != 0 {
        let (caller, pc) = CONTEXTS.get(context);
        pcs.push(pc);
        context = caller;
    }
    pcs
}

/// A site without callers, for code that has no stack at hand.
pub fn bare_site(pc: usize) -> Site {
    Site(SITES.find_or_add(OUTERMOST, pc).unwrap_or(0))
}

/// How many contexts and sites there are.
pub fn counts() -> (usize, usize) {
    (CONTEXTS.len(), SITES.len())
}

/// What got a number: a context, or (true) a site; with its caller and its instruction.
pub type Numbered = (bool, u32, usize);

/// What got a number when there were so many contexts and sites, and later, in the order of numbers.
pub fn numbered_since((contexts, sites): (usize, usize)) -> impl Iterator<Item = Numbered> {
    let (now_contexts, now_sites) = counts();
    let entry = |table: &'static Table, is_site| {
        move |number: usize| {
            let (parent, pc) = table.get(number as u32);
            (is_site, parent, pc)
        }
    };
    let contexts = (contexts + 1..=now_contexts).map(entry(&CONTEXTS, false));
    contexts.chain((sites + 1..=now_sites).map(entry(&SITES, true)))
}

/// Gives the next number to what another process has numbered. As long as nobody else does, it is the same number.
pub fn number((is_site, parent, pc): Numbered) {
    let table = if is_site { &SITES } else { &CONTEXTS };
    table.find_or_add(parent, pc);
}

#[cfg(test)]
mod tests;
