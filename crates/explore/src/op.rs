//! What a step does, as far as the order of steps matters: which objects it touches.

use crate::ThreadId;

/// Something that steps touch: a memory location (its address), a lock, a thread.
pub type Object = u64;

/// The hidden location behind SC fences under RC20 and RA: every SC fence updates it (`docs/theory.md`, "SC fence").
pub const FENCES: Object = 1;

/// Which threads there are: those that come and go look at it, and who must know changes it.
pub const THREADS: Object = 3;

/// The object that stands for a thread.
pub const fn thread_object(thread: ThreadId) -> Object {
    1 << 63 | thread as Object
}

/// How a step touches an object.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AccessType {
    /// Not at all: the place in [`Op`] is empty.
    #[default]
    None = 0,
    /// It looks at it: two such steps can be exchanged.
    Read = 1,
    /// It changes it.
    Write = 2,
}

/// What kind of step it is: for people, and to tell steps that can be blocked.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// Nothing that others can see.
    #[default]
    Local = 0,
    /// A thread's first step.
    Begin,
    /// A thread's last step.
    End,
    /// Creates a thread.
    Spawn,
    /// Waits for a thread's end.
    Join,
    /// An atomic load, or a compare-and-swap that fails.
    Load,
    /// An atomic store.
    Store,
    /// An atomic read-modify-write.
    Rmw,
    /// A fence.
    Fence,
    /// An atomic load that waits for a value.
    Await,
    /// Takes a lock.
    Lock,
    /// Gives it back.
    Unlock,
    /// Tries to take a lock, in vain.
    TryLock,
    /// Begins to wait for a signal, and gives a lock back.
    Wait,
    /// Wakes up: by a signal, or because time is up.
    Wake,
    /// Wakes one or all who wait.
    Signal,
    /// Gives to a semaphore.
    Post,
    /// Takes from a semaphore.
    Take,
    /// Arrives at a barrier.
    Arrive,
    /// Goes on behind a barrier.
    Pass,
    /// Offers its turn to others: a yield or a sleep.
    Yield,
    /// Ends the process: whatever others would still do, they don't.
    Exit,
    /// Not a step of its own, but which of several ways the step before it took: see [`Op::choice`].
    Choose,
    /// A fence in another thread, which that one doesn't make itself (`membarrier`): it touches that thread's object, and its
    /// place among all steps of that thread matters.
    Everywhere,
}

/// One step: what kind, and up to two objects with how they are touched (under RC20 an SC access touches its location
/// and [`FENCES`]; waiting for a signal touches a condition variable and a lock).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Op {
    /// The objects.
    pub objects: [Object; 2],
    /// How each of them is touched.
    pub how: [AccessType; 2],
    /// What kind of step it is.
    pub kind: Kind,
}

impl Op {
    /// A step that touches nothing.
    pub const fn local(kind: Kind) -> Op {
        Op { objects: [0; 2], how: [AccessType::None; 2], kind }
    }

    /// A step that touches one object.
    pub const fn new(kind: Kind, how: AccessType, object: Object) -> Op {
        Op { objects: [object, 0], how: [how, AccessType::None], kind }
    }

    /// The same step, touching another object too.
    #[must_use]
    pub const fn and(mut self, how: AccessType, object: Object) -> Op {
        self.objects[1] = object;
        self.how[1] = how;
        self
    }

    /// The step before took way `chosen` out of `many`.
    pub const fn choice(chosen: u32, many: u32) -> Op {
        Op { objects: [chosen as Object, many as Object], how: [AccessType::None; 2], kind: Kind::Choose }
    }

    /// The objects that it touches.
    pub fn touches(&self) -> impl Iterator<Item = (Object, AccessType)> + use<> {
        let Op { objects, how, .. } = *self;
        (0..2).map(move |i| (objects[i], how[i])).filter(|&(_, how)| how != AccessType::None)
    }

    /// In which thread it is a fence, if it is one in another thread.
    pub fn everywhere(&self) -> Option<ThreadId> {
        (self.kind == Kind::Everywhere).then_some(self.objects[0] as ThreadId)
    }

    /// Does the order of the two steps matter, if different threads do them?
    pub fn conflicts(&self, other: &Op) -> bool {
        // Whose step the other one is isn't known here.
        let all = |op: &Op| matches!(op.kind, Kind::Exit | Kind::Everywhere);
        all(self) || all(other) || self.shares(other)
    }

    /// Does one of them change an object that the other touches?
    pub(crate) fn shares(&self, other: &Op) -> bool {
        self.touches().any(|(object, how)| {
            other
                .touches()
                .any(|(same, also)| object == same && (how == AccessType::Write || also == AccessType::Write))
        })
    }

    /// Can a step of this kind have to wait for others?
    pub fn can_wait(&self) -> bool {
        use Kind::*;
        matches!(self.kind, Begin | Join | Await | Lock | Wake | Take | Pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_conflict_if_one_changes_what_the_other_touches() {
        let load = |x| Op::new(Kind::Load, AccessType::Read, x);
        let store = |x| Op::new(Kind::Store, AccessType::Write, x);
        assert!(!load(8).conflicts(&load(8)));
        assert!(
            load(8).conflicts(&store(8)) && store(8).conflicts(&load(8)) && store(8).conflicts(&store(8))
        );
        assert!(!store(8).conflicts(&store(16)));
        assert!(store(8).and(AccessType::Write, FENCES).conflicts(&store(16).and(AccessType::Write, FENCES)));
        assert!(!Op::local(Kind::Yield).conflicts(&Op::local(Kind::Yield)));
        assert!(Op::local(Kind::Exit).conflicts(&load(8)));
    }
}
