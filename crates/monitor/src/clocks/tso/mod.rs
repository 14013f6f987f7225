//! The dynamic TSO (x86) monitor: \[Sober08] §3, corrected as `docs/theory.md` says (D9).
//!
//! A store waits in its thread's buffer while later loads of the thread go ahead. So a load may miss a write that is
//! before it under SC (`hbSC`), unless the thread made that write or a later one itself, or one of them is *globally*
//! before something that its loads can't overtake (`ghb`). Two clocks per thread follow `ghb`: [`Thread`] has what is
//! before its later loads (`lc` in the paper's Fig. 3) and what is before its later stores (`sc` there), and a third one
//! follows `hbSC`. Nothing is asked but which *writes* are known, and the writes of a thread are ordered among
//! themselves in `ghb`: so one component per thread is enough, where the paper has two.
//!
//! As in Fig. 2, a load looks back over the writes of its location, newest first. All other accesses go through memory
//! in order, and a program that is not robust shows it at some plain load of some SC run.
//!
//! `tests/dynamic/tso` holds this equal to the TSO axioms of `seqcst_model`, on random traces.

mod location;
mod thread;

pub use location::Location;
pub use thread::{Message, Thread};
