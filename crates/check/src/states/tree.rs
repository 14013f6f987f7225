//! The visited set: packed states, tree-compressed.
//!
//! After Laarman, van de Pol, Weber, "Parallel Recursive State Compression for Free" (SPIN 2011): words are numbered,
//! then pairs of numbers, and so on up to the root. A state is the pair of numbers at its root: 8 bytes,
//! however long the state is, because states share most of their parts. Nothing is lost: the set is exact.
//!
//! Tables are split into shards with a lock each. Numbers can be turned back into pairs without a lock.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};

const SHARD_BITS: u32 = 6;
const SHARDS: usize = 1 << SHARD_BITS;

/// A state: the pair of numbers at its root. Never 0.
pub type Key = u64;

fn hash(key: u64) -> u64 {
    let wide = u128::from(key ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93_u128;
    let mixed = wide as u64 ^ (wide >> 64) as u64;
    mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ mixed >> 32
}

/// The first chunk of an arena holds this many entries; each further chunk twice as many.
const FIRST_CHUNK: usize = 64;

/// A list that grows without moving: readers need no lock.
struct Arena {
    chunks: [OnceLock<Box<[AtomicU64]>>; 24],
}

impl Arena {
    fn place(index: usize) -> (usize, usize) {
        let chunk = ((index / FIRST_CHUNK) + 1).ilog2() as usize;
        (chunk, index - FIRST_CHUNK * ((1 << chunk) - 1))
    }

    fn get(&self, index: usize) -> u64 {
        let (chunk, at) = Self::place(index);
        self.chunks[chunk].get().map_or(0, |words| words[at].load(Relaxed))
    }

    fn set(&self, index: usize, key: u64, memory: &AtomicUsize) {
        let (chunk, at) = Self::place(index);
        let words = self.chunks[chunk].get_or_init(|| {
            let size = FIRST_CHUNK << chunk;
            memory.fetch_add(size * 8, Relaxed);
            (0..size).map(|_| AtomicU64::new(0)).collect()
        });
        words[at].store(key, Relaxed);
    }
}

#[derive(Default)]
struct Slots {
    /// 1 + index of an entry; 0: free.
    slots: Vec<u32>,
    len: usize,
}

struct Shard {
    slots: Mutex<Slots>,
    keys: Arena,
}

/// Numbers keys, from 1.
struct Numbering {
    shards: Box<[Shard]>,
}

impl Numbering {
    fn new() -> Self {
        let shard = |_| Shard {
            slots: Mutex::default(),
            keys: Arena { chunks: std::array::from_fn(|_| OnceLock::new()) },
        };
        Numbering { shards: (0..SHARDS).map(shard).collect() }
    }

    fn get(&self, number: u32) -> u64 {
        let index = number - 1;
        self.shards[index as usize % SHARDS].keys.get((index >> SHARD_BITS) as usize)
    }

    fn number(&self, key: u64, hash: u64, memory: &AtomicUsize) -> u32 {
        let which = (hash >> (64 - SHARD_BITS)) as usize;
        let shard = &self.shards[which];
        let mut guard = lock(&shard.slots);
        let table = &mut *guard;
        if table.len * 4 >= table.slots.len() * 3 {
            let size = (table.slots.len() * 2).max(16);
            memory.fetch_add((size - table.slots.len()) * 4, Relaxed);
            let mut slots = vec![0u32; size];
            for index in 0..table.len {
                let mut at = self::hash(shard.keys.get(index)) as usize & (size - 1);
                while slots[at] != 0 {
                    at = (at + 1) & (size - 1);
                }
                slots[at] = index as u32 + 1;
            }
            table.slots = slots;
        }
        let mask = table.slots.len() - 1;
        let mut at = hash as usize & mask;
        let index = loop {
            match table.slots[at] {
                0 => {
                    let index = table.len;
                    shard.keys.set(index, key, memory);
                    table.slots[at] = index as u32 + 1;
                    table.len += 1;
                    break index;
                }
                slot if shard.keys.get(slot as usize - 1) == key => break slot as usize - 1,
                _ => at = (at + 1) & mask,
            }
        };
        ((index as u32) << SHARD_BITS | which as u32) + 1
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

#[derive(Default)]
struct Roots {
    /// Root keys; 0: free.
    slots: Vec<Key>,
    len: usize,
}

/// The visited set.
pub struct StateSet {
    /// Words of packed states.
    leaves: Numbering,
    /// Pairs of numbers.
    inner: Numbering,
    roots: Box<[Mutex<Roots>]>,
    /// Words in a packed state.
    words: usize,
    memory: AtomicUsize,
}

impl StateSet {
    pub fn new(words: usize) -> StateSet {
        StateSet {
            leaves: Numbering::new(),
            inner: Numbering::new(),
            roots: (0..SHARDS).map(|_| Mutex::default()).collect(),
            words,
            memory: AtomicUsize::new(0),
        }
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.memory.load(Relaxed)
    }

    /// Adds a state; false if it was there already.
    pub fn insert(&self, key: Key) -> bool {
        let hash = hash(key);
        let mut guard = lock(&self.roots[(hash >> (64 - SHARD_BITS)) as usize]);
        let table = &mut *guard;
        if table.len * 4 >= table.slots.len() * 3 {
            let size = (table.slots.len() * 2).max(16);
            self.memory.fetch_add((size - table.slots.len()) * 8, Relaxed);
            let mut slots = vec![0; size];
            for &old in table.slots.iter().filter(|old| **old != 0) {
                let mut at = self::hash(old) as usize & (size - 1);
                while slots[at] != 0 {
                    at = (at + 1) & (size - 1);
                }
                slots[at] = old;
            }
            table.slots = slots;
        }
        let mask = table.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match table.slots[at] {
                0 => {
                    table.slots[at] = key;
                    table.len += 1;
                    return true;
                }
                there if there == key => return false,
                _ => at = (at + 1) & mask,
            }
        }
    }
}

/// A packed state with the numbers of all its parts: what it takes to number a similar state quickly.
#[derive(Clone, Default)]
pub struct Parts {
    /// The packed state.
    pub words: Vec<u64>,
    /// Numbers of the leaves, then of each level above, without the root.
    numbers: Vec<u32>,
}

impl Parts {
    /// A packed state of so many words, all 0, not numbered yet.
    pub fn of_size(words: usize) -> Parts {
        Parts { words: vec![0; words], numbers: Vec::new() }
    }
}

/// One worker's handle to the set of states, with a cache of recent numbers.
pub struct StateSetHandle<'a> {
    set: &'a StateSet,
    leaves: Vec<(u64, u32)>,
    inner: Vec<(u64, u32)>,
}

const CACHE: usize = 1 << 13;

impl<'a> StateSetHandle<'a> {
    pub fn new(set: &'a StateSet) -> StateSetHandle<'a> {
        StateSetHandle { set, leaves: vec![(0, 0); CACHE], inner: vec![(0, 0); CACHE] }
    }

    /// The key of a packed state (in `parts.words`), given a similar one to start from.
    pub fn key(&mut self, parts: &mut Parts, similar: &Parts) -> Key {
        let old = similar.words.len() == parts.words.len();
        let leaf_count = self.set.words;
        parts.numbers.clear();
        for (leaf, &word) in parts.words.iter().enumerate() {
            let number = if old && similar.words[leaf] == word {
                similar.numbers[leaf]
            } else {
                cached(&mut self.leaves, &self.set.leaves, word, &self.set.memory)
            };
            parts.numbers.push(number);
        }
        let (mut start, mut len) = (0, leaf_count);
        while len > 2 {
            for pair in 0..len / 2 {
                let at = start + pair * 2;
                let (left, right) = (parts.numbers[at], parts.numbers[at + 1]);
                let here = parts.numbers.len();
                let number = if old && similar.numbers[at] == left && similar.numbers[at + 1] == right {
                    similar.numbers[here]
                } else {
                    let key = u64::from(left) << 32 | u64::from(right);
                    cached(&mut self.inner, &self.set.inner, key, &self.set.memory)
                };
                parts.numbers.push(number);
            }
            if len % 2 == 1 {
                parts.numbers.push(parts.numbers[start + len - 1]);
            }
            start += len;
            len = len.div_ceil(2);
        }
        let left = parts.numbers[start];
        let right = if len == 2 { parts.numbers[start + 1] } else { 0 };
        u64::from(left) << 32 | u64::from(right)
    }

    /// Turns a key back into a packed state.
    pub fn parts(&self, key: Key, parts: &mut Parts) {
        let leaf_count = self.set.words;
        let mut levels = vec![leaf_count];
        while levels[levels.len() - 1] > 2 {
            levels.push(levels[levels.len() - 1].div_ceil(2));
        }
        let total: usize = levels.iter().sum();
        parts.numbers.clear();
        parts.numbers.resize(total, 0);
        let mut above = total;
        let mut start = total - levels[levels.len() - 1];
        parts.numbers[start] = (key >> 32) as u32;
        if above - start == 2 {
            parts.numbers[start + 1] = key as u32;
        }
        for level in (0..levels.len() - 1).rev() {
            let len = levels[level];
            let below = start - len;
            for pair in 0..len / 2 {
                let both = self.set.inner.get(parts.numbers[start + pair]);
                parts.numbers[below + pair * 2] = (both >> 32) as u32;
                parts.numbers[below + pair * 2 + 1] = both as u32;
            }
            if len % 2 == 1 {
                parts.numbers[below + len - 1] = parts.numbers[above - 1];
            }
            above = start;
            start = below;
        }
        parts.words.clear();
        parts.words.extend(parts.numbers[..leaf_count].iter().map(|&number| self.set.leaves.get(number)));
    }
}

fn cached(cache: &mut [(u64, u32)], numbering: &Numbering, key: u64, memory: &AtomicUsize) -> u32 {
    let hash = hash(key);
    let entry = &mut cache[hash as usize >> 12 & (CACHE - 1)];
    if entry.1 == 0 || entry.0 != key {
        *entry = (key, numbering.number(key, hash, memory));
    }
    entry.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_set_is_exact_and_keys_turn_back_into_states() {
        for words in 1..=13 {
            let set = StateSet::new(words);
            let mut handle = StateSetHandle::new(&set);
            let mut seen = HashSet::new();
            let mut seed = 7u64;
            let mut last = Parts::default();
            for _ in 0..3000 {
                let mut parts = Parts::default();
                for _ in 0..words {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    parts.words.push(seed >> 62);
                }
                let key = handle.key(&mut parts, &last);
                assert_ne!(key, 0);
                assert_eq!(set.insert(key), seen.insert(parts.words.clone()));
                let mut again = Parts::default();
                handle.parts(key, &mut again);
                assert_eq!(again.words, parts.words);
                assert_eq!(again.numbers, parts.numbers);
                last = again;
            }
        }
    }
}
