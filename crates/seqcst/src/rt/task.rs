//! A thread of an execution.

use super::site::Site;
use super::spin::Spin;
use super::wait::Wait;
use super::worker::Exit;
use seqcst_explore::Op;
use seqcst_monitor::clocks::run::{self, Message};
use std::any::Any;

/// What a thread has to do.
pub type Job = Box<dyn FnOnce()>;

/// A thread of an execution; its memory is used again in the next one.
#[derive(Default)]
pub struct Task {
    pub name: Option<String>,
    /// What it has to do, until it begins.
    pub job: Option<Job>,
    pub views: run::Thread,
    /// Its next step, and where.
    pub next: (Op, Site),
    /// What its next step waits for.
    pub wait: Wait,
    /// The step that ended its spinning.
    pub woken_by: Option<u32>,
    pub spin: Spin,
    pub ended: bool,
    /// It has begun, and something may be left on its stack.
    pub left: bool,
    /// How its coroutine gives the OS thread back; the same in all executions.
    pub exit: Option<Exit>,
    /// It was given a token by `unpark`, with what the giver knew.
    pub token: bool,
    pub handed: Message,
    /// Its thread-local values, by their keys.
    pub locals: Vec<(usize, Box<dyn Any>)>,
    /// It is inside of so many destructors of shared values.
    pub dropping: u32,
    /// What it has done and read so far, as a number.
    pub past: u64,
}

impl Task {
    /// It has done this, or read this.
    #[inline]
    pub fn remember(&mut self, what: u64) {
        self.past = (self.past.rotate_left(5) ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// A new thread.
    pub fn start(&mut self, name: Option<String>, job: Job) {
        self.name = name;
        self.job = Some(job);
        self.wait = Wait::Nothing;
        self.woken_by = None;
        self.spin.clear();
        (self.ended, self.left, self.token) = (false, false, false);
        self.handed.clear();
        self.locals.clear();
        (self.past, self.dropping) = (0, 0);
    }
}
