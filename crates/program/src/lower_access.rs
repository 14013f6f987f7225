//! What an access becomes on each memory model. One function per question: which mode, which fences around it.
//!
//! | written          | sc     | ra                     | rc11       | rc20                         | tso                       |
//! |------------------|--------|------------------------|------------|------------------------------|---------------------------|
//! | load, wait       | plain  | acquire                | as written | as written                   | plain                     |
//! | store            | plain  | release                | as written | as written                   | plain                     |
//! | read-modify-write| plain  | acquire-release        | as written | as written                   | locked                    |
//! | SC access        | plain  | SC fence, access       | as written | SC fence, access             | store then fence; a plain load |
//! | SC fence         | –      | update of hidden place | as written | acq fence, update, rel fence | fence                     |
//! | other fences     | –      | –                      | as written | as written                   | –                         |
//! | non-atomic       | kept   | kept                   | kept       | kept                         | plain                     |
//!
//! An access without an order is relaxed under rc11 and rc20.
//! On tso a read-modify-write is a fence even when it fails, as x86's locked instructions are: a compare-and-swap that is
//! known to fail is a load of mode `sc` there, which nothing else becomes.

use crate::ast::{Access as Source, CasKind, Name};
use crate::code::{Access, AccessKind, Expr, Instr, Reg};
use crate::lower::ThreadLowering;
use seqcst_model::{Loc, Mode, Model};

/// The three shapes of events that modes differ for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Read,
    Write,
    Update,
}

impl Shape {
    /// The strongest mode short of SC.
    fn strongest(self) -> Mode {
        match self {
            Shape::Read => Mode::Acquire,
            Shape::Write => Mode::Release,
            Shape::Update => Mode::AcqRel,
        }
    }
}

impl ThreadLowering<'_, '_> {
    /// Lowers an access or fence: all instructions that it becomes have the same site.
    pub(crate) fn access(&mut self, access: &Source, dest: Option<Reg>, site: u32) {
        let (location, kind, shape, written) = match access {
            Source::Fence(mode) => return self.fence(mode.node, site),
            Source::NaLoad(location) => return self.non_atomic(location, AccessKind::Load, dest, site),
            Source::NaStore(location, value) => {
                let kind = AccessKind::Store(self.checked(value));
                return self.non_atomic(location, kind, None, site);
            }
            Source::Load(location, mode) => {
                (location, AccessKind::Load, Shape::Read, mode.as_ref().map(|m| m.node))
            }
            Source::Wait(location, values, mode) => {
                let values = values.iter().map(|value| self.checked(value)).collect();
                (location, AccessKind::Wait(values), Shape::Read, mode.as_ref().map(|m| m.node))
            }
            Source::Store(location, value, mode) => (
                location,
                AccessKind::Store(self.checked(value)),
                Shape::Write,
                mode.as_ref().map(|m| m.node),
            ),
            Source::FetchAdd(location, operand, mode) => {
                return self.fetch_add(operand, dest, site, |this, operand, dest| {
                    let access = (location, AccessKind::FetchAdd(operand), Shape::Update, mode.whole());
                    this.atomic(access, None, dest, site);
                });
            }
            Source::Exchange(location, value, mode) => {
                (location, AccessKind::Exchange(self.checked(value)), Shape::Update, mode.whole())
            }
            Source::Cas(kind, cas) => {
                let (expected, new) = (self.checked(&cas.expected), self.checked(&cas.new));
                let kind = match kind {
                    CasKind::Strong => AccessKind::Cas { expected, new },
                    CasKind::Weak => AccessKind::WeakCas { expected, new },
                    CasKind::Blocking => AccessKind::BlockingCas { expected, new },
                    CasKind::Failing => AccessKind::Load,
                };
                (&cas.location, kind, Shape::Update, cas.mode.whole())
            }
            Source::Lock(location) => {
                let kind = AccessKind::BlockingCas { expected: Expr::Const(0), new: Expr::Const(1) };
                (location, kind, Shape::Update, Some(Mode::Acquire))
            }
            Source::Unlock(location) => {
                (location, AccessKind::Store(Expr::Const(0)), Shape::Write, Some(Mode::Release))
            }
        };
        let failure = match access {
            Source::Cas(_, cas) => cas.failure.as_ref().and_then(|failure| self.failure_mode(failure.node)),
            _ => None,
        };
        self.atomic((location, kind, shape, written), failure, dest, site);
    }

    /// An atomic access of a kind and shape with the order that was written, and the fences that go with it.
    fn atomic(
        &mut self,
        (location, kind, shape, written): (&Name, AccessKind, Shape, Option<Mode>),
        failure: Option<Mode>,
        dest: Option<Reg>,
        site: u32,
    ) {
        let (fence_before, mode, fence_after) = self.mode(shape, written.unwrap_or(Mode::Relaxed));
        if fence_before {
            self.sc_fence(site);
        }
        let (mode, failure) = match (&kind, shape) {
            // A compare-and-swap that fails has its own mode for that. On tso it is locked like any other.
            (AccessKind::Load, Shape::Update) => (failure.unwrap_or(mode.read_part()), None),
            _ => (mode, failure),
        };
        let loc = self.location(location);
        self.emit(Access { kind, loc, mode, failure, dest, site });
        if fence_after {
            self.sc_fence(site);
        }
    }

    /// The mode of a failed compare-and-swap for which the user wrote one. Models without orders give every access of a
    /// kind the same mode. Under rc20 `sc` is taken as acquire: the fence before it, if any, comes from the mode of success.
    fn failure_mode(&self, written: Mode) -> Option<Mode> {
        match (self.context.model, written) {
            (Model::Rc20, Mode::SeqCst) => Some(Mode::Acquire),
            (Model::Rc20 | Model::Rc11, other) => Some(other),
            _ => None,
        }
    }

    /// The mode of an atomic access, and whether an SC fence goes before and after it.
    fn mode(&self, shape: Shape, written: Mode) -> (bool, Mode, bool) {
        let sc = written == Mode::SeqCst;
        match self.context.model {
            Model::Sc => (false, Mode::Relaxed, false),
            Model::Ra => (sc, shape.strongest(), false),
            Model::Tso if shape == Shape::Update => (false, Mode::SeqCst, false),
            Model::Tso => (false, Mode::Relaxed, sc && shape == Shape::Write),
            Model::Rc11 => (false, written, false),
            _ => (sc, if sc { shape.strongest() } else { written }, false),
        }
    }

    fn non_atomic(&mut self, location: &Name, kind: AccessKind, dest: Option<Reg>, site: u32) {
        let loc = self.location(location);
        self.emit(Access { kind, loc, mode: Mode::NonAtomic, failure: None, dest, site });
    }

    fn fence(&mut self, mode: Mode, site: u32) {
        match (self.context.model, mode) {
            (_, Mode::SeqCst) => self.sc_fence(site),
            // Nothing is left for these to order.
            (Model::Sc | Model::Ra | Model::Tso, _) => {}
            (_, Mode::AcqRel) => {
                self.emit_fence(Mode::Acquire, site);
                self.emit_fence(Mode::Release, site);
            }
            (_, mode) => self.emit_fence(mode, site),
        }
    }

    fn sc_fence(&mut self, site: u32) {
        match self.context.model {
            Model::Sc => {}
            Model::Tso | Model::Rc11 => self.emit_fence(Mode::SeqCst, site),
            Model::Ra => self.update_hidden(site),
            _ => {
                self.emit_fence(Mode::Acquire, site);
                self.update_hidden(site);
                self.emit_fence(Mode::Release, site);
            }
        }
    }

    fn update_hidden(&mut self, site: u32) {
        self.context.fence_used = true;
        let kind = AccessKind::FetchAdd(Expr::Const(0));
        self.emit(Access {
            kind,
            loc: self.context.fence,
            mode: Mode::AcqRel,
            failure: None,
            dest: None,
            site,
        });
    }

    fn emit_fence(&mut self, mode: Mode, site: u32) {
        self.emit(Access { kind: AccessKind::Fence, loc: Loc(0), mode, failure: None, dest: None, site });
    }

    fn emit(&mut self, access: Access) {
        self.instrs.push(Instr::Access(access));
    }
}
