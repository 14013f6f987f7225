//! From the bytes in shared memory to steps, with a look at each value.

use seqcst_explore::wire::Finding;
use seqcst_explore::{AccessType, Change, End, Kind, Op, State, Step, Waiting};
use std::mem::offset_of;

/// Something of a fixed size that can be read from bytes; nothing if they make no sense.
pub trait Decode: Sized {
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// All of them, up to the first that makes no sense.
pub fn all<T: Decode>(bytes: &[u8], into: &mut Vec<T>) {
    into.extend(bytes.chunks_exact(size_of::<T>()).map_while(T::decode));
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A thread's number: nobody has that many, and whoever reads on makes room for all up to it.
fn thread_at(bytes: &[u8], at: usize) -> Option<u32> {
    u32_at(bytes, at).filter(|thread| *thread < 1 << 17)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

impl Decode for Op {
    fn decode(bytes: &[u8]) -> Option<Op> {
        let (objects, how) = (offset_of!(Op, objects), offset_of!(Op, how));
        Some(Op {
            objects: [u64_at(bytes, objects)?, u64_at(bytes, objects + 8)?],
            how: [self::how(*bytes.get(how)?)?, self::how(*bytes.get(how + 1)?)?],
            kind: kind(*bytes.get(offset_of!(Op, kind))?)?,
        })
    }
}

impl Decode for Step {
    fn decode(bytes: &[u8]) -> Option<Step> {
        Some(Step {
            op: Op::decode(bytes.get(offset_of!(Step, op)..)?)?,
            site: u64_at(bytes, offset_of!(Step, site))?,
            thread: thread_at(bytes, offset_of!(Step, thread))?,
            woken_by: u32_at(bytes, offset_of!(Step, woken_by))?,
        })
    }
}

impl Decode for Change {
    fn decode(bytes: &[u8]) -> Option<Change> {
        Some(Change {
            before: u32_at(bytes, offset_of!(Change, before))?,
            thread: thread_at(bytes, offset_of!(Change, thread))?,
            state: match bytes.get(offset_of!(Change, state))? {
                0 => State::Blocked,
                1 => State::Ready,
                2 => State::Willing,
                3 => State::Held,
                _ => return None,
            },
        })
    }
}

impl Decode for Finding {
    fn decode(bytes: &[u8]) -> Option<Finding> {
        Some(Finding {
            kind: u32_at(bytes, offset_of!(Finding, kind))?,
            step: u32_at(bytes, offset_of!(Finding, step))?,
            site: u64_at(bytes, offset_of!(Finding, site))?,
            other: u64_at(bytes, offset_of!(Finding, other))?,
        })
    }
}

impl Decode for Waiting {
    fn decode(bytes: &[u8]) -> Option<Waiting> {
        Some(Waiting {
            op: Op::decode(bytes.get(offset_of!(Waiting, op)..)?)?,
            site: u64_at(bytes, offset_of!(Waiting, site))?,
            thread: thread_at(bytes, offset_of!(Waiting, thread))?,
            spins: u32_at(bytes, offset_of!(Waiting, spins))?,
        })
    }
}

fn how(byte: u8) -> Option<AccessType> {
    [AccessType::None, AccessType::Read, AccessType::Write].into_iter().find(|how| *how as u8 == byte)
}

fn kind(byte: u8) -> Option<Kind> {
    const KINDS: [Kind; 24] = [
        Kind::Local,
        Kind::Begin,
        Kind::End,
        Kind::Spawn,
        Kind::Join,
        Kind::Load,
        Kind::Store,
        Kind::Rmw,
        Kind::Fence,
        Kind::Await,
        Kind::Lock,
        Kind::Unlock,
        Kind::TryLock,
        Kind::Wait,
        Kind::Wake,
        Kind::Signal,
        Kind::Post,
        Kind::Take,
        Kind::Arrive,
        Kind::Pass,
        Kind::Yield,
        Kind::Exit,
        Kind::Choose,
        Kind::Everywhere,
    ];
    KINDS.get(byte as usize).copied().filter(|kind| *kind as u8 == byte)
}

/// How an execution ended, if the number says so.
pub fn end(number: u32) -> Option<End> {
    let ends = [End::Done, End::Deadlock, End::Livelock, End::StepLimit, End::Redundant, End::Diverged];
    ends.into_iter().find(|end| *end as u32 == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_known() {
        assert_eq!((0..=255).filter_map(kind).count(), Kind::Everywhere as usize + 1);
        assert_eq!(kind(Kind::Exit as u8), Some(Kind::Exit));
        assert_eq!((0..9).filter_map(end).count(), End::Diverged as usize + 1);
    }

    #[test]
    fn nonsense_is_nothing() {
        let mut bytes = vec![0; 2 * size_of::<Step>()];
        let mut steps: Vec<Step> = Vec::new();
        all(&bytes, &mut steps);
        assert_eq!(steps.len(), 2);
        bytes[offset_of!(Op, kind)] = 99;
        steps.clear();
        all(&bytes, &mut steps);
        assert!(steps.is_empty() && Step::decode(&[1, 2, 3]).is_none());
    }
}
