//! Uses of memory and of objects that are not allowed, whatever the order of accesses.

use super::Access;
use super::words;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Misuse {
    /// An access to a block that was freed.
    UseAfterFree,
    /// A block is freed again.
    DoubleFree,
    /// What is freed is not the beginning of a block.
    InvalidFree,
    /// An allocation asks for an alignment that there can't be.
    BadAlignment,
    /// An access to another thread's stack, below all that is in use.
    EndedFrame,
    /// An access to the stack of a thread that has ended.
    EndedThread,
    /// A mutex is unlocked that nobody has locked.
    NotLocked,
    /// A mutex is unlocked that another thread has locked.
    NotOwner,
    /// A thread is joined again.
    JoinedAgain,
    /// An object is used after it was destroyed.
    UseAfterDestroy(Object),
    /// An object is destroyed while it is locked, or waited for.
    DestroyInUse(Object),
    /// An object is used that was never made.
    NotInitialised(Object),
}

/// An object that threads synchronise with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Object {
    /// `pthread_mutex_t`, `mtx_t`
    Mutex,
    /// `pthread_rwlock_t`
    RwLock,
    /// `pthread_barrier_t`
    Barrier,
    /// `pthread_cond_t`, `cnd_t`
    Condition,
    /// `sem_t`
    Semaphore,
}

impl Object {
    fn noun(self) -> &'static str {
        match self {
            Object::Mutex => "mutex",
            Object::RwLock => "read-write lock",
            Object::Barrier => "barrier",
            Object::Condition => "condition variable",
            Object::Semaphore => "semaphore",
        }
    }
}

impl Misuse {
    /// A number for each.
    pub fn number(self) -> u64 {
        match self {
            Misuse::UseAfterFree => 0,
            Misuse::DoubleFree => 1,
            Misuse::InvalidFree => 2,
            Misuse::BadAlignment => 3,
            Misuse::EndedFrame => 4,
            Misuse::EndedThread => 5,
            Misuse::NotLocked => 6,
            Misuse::NotOwner => 7,
            Misuse::JoinedAgain => 8,
            Misuse::UseAfterDestroy(object) => 16 + object as u64,
            Misuse::DestroyInUse(object) => 24 + object as u64,
            Misuse::NotInitialised(object) => 32 + object as u64,
        }
    }

    /// What it is called.
    pub fn title(self) -> String {
        let title = match self {
            Misuse::UseAfterFree => "use after free",
            Misuse::DoubleFree => "double free",
            Misuse::InvalidFree => "free of what is no block",
            Misuse::BadAlignment => "allocation with an invalid alignment",
            Misuse::EndedFrame => "use of a stack frame that has ended",
            Misuse::EndedThread => "use of the stack of a thread that has ended",
            Misuse::NotLocked => "unlock of a mutex that is not locked",
            Misuse::NotOwner => "unlock of a mutex that another thread has locked",
            Misuse::JoinedAgain => "join of a thread that was joined before",
            Misuse::UseAfterDestroy(object) => return format!("use of a destroyed {}", object.noun()),
            Misuse::DestroyInUse(object) => return format!("destruction of a {} in use", object.noun()),
            Misuse::NotInitialised(object) => {
                return format!("use of a {} that is not initialised", object.noun());
            }
        };
        title.to_owned()
    }

    /// What was done that is wrong.
    pub fn act(self, access: &Access) -> String {
        match self {
            Misuse::UseAfterFree | Misuse::EndedFrame | Misuse::EndedThread => words::race_access(access),
            Misuse::DoubleFree | Misuse::InvalidFree => "free".to_owned(),
            Misuse::BadAlignment => format!("allocation with an alignment of {}", access.addr),
            Misuse::NotLocked | Misuse::NotOwner => "unlock of the mutex".to_owned(),
            Misuse::JoinedAgain => "join of the thread".to_owned(),
            Misuse::UseAfterDestroy(object) | Misuse::NotInitialised(object) => {
                format!("use of the {}", object.noun())
            }
            Misuse::DestroyInUse(object) => format!("destruction of the {}", object.noun()),
        }
    }

    /// What the earlier act did: `… by thread 1`.
    pub fn earlier(self) -> &'static str {
        match self {
            Misuse::UseAfterDestroy(_) => "It was destroyed",
            Misuse::DoubleFree => "It was freed before",
            _ => "The memory was freed",
        }
    }
}
