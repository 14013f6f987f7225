//! Bounded clients of a library, as programs for the exhaustive checker.
//!
//! * `values`, `follow`, `sets`: which values there can be;
//! * `codec`, `names`, `syntax`, `expressions`, `access`, `compile`: a client as a finite-state program;
//! * `enumerate`, `arguments`: all small clients that keep the library's contract; `objects`: clients of two objects;
//! * `check`, `complete`, `ends`: one client under RC20;
//! * `attempt`: a partial execution of a proof that failed, tried on real clients.

mod access;
mod arguments;
mod attempt;
mod check;
mod codec;
mod compile;
mod complete;
mod ends;
mod enumerate;
mod expressions;
mod follow;
mod names;
mod objects;
mod sets;
mod syntax;
mod values;

pub use attempt::{
    Bounds, Confirmed, Searched, Tried, try_any, try_objects, try_partial, try_witness, try_witness_among,
};
pub use check::{Checked, Limits, PROGRAM, check};
pub use compile::Plain;
pub use enumerate::{enumerate, respects};

use crate::code::{Library, Method};
use seqcst_program::ast::Program;
use std::fmt;

/// A call with constant arguments.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Call {
    /// The method's name; `name@object` where there are several objects.
    pub method: String,
    /// Values of its parameters.
    pub arguments: Vec<i64>,
}

/// Threads that call methods, one call after the other.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Client {
    /// The calls of each thread.
    pub threads: Vec<Vec<Call>>,
}

/// Why a client cannot be made into a finite-state program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

impl Call {
    fn method<'l>(&self, library: &'l Library) -> Result<&'l Method, Unsupported> {
        let found = library.methods.iter().find(|method| method.name == self.method);
        found.ok_or_else(|| Unsupported(format!("there is no method `{}`", self.method)))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (method, object) =
            self.method.split_once('@').map_or((&*self.method, None), |(m, o)| (m, Some(o)));
        let shown = self.arguments.iter().map(|argument| match arguments::record_number(*argument) {
            Some(number) => format!("&record{}", number + 1),
            None => argument.to_string(),
        });
        let all: Vec<String> = object.map(|object| format!("&{object}")).into_iter().chain(shown).collect();
        write!(f, "{method}({})", all.join(", "))
    }
}

/// A line per thread: `thread 1: push(1); pop()`.
impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (index, calls) in self.threads.iter().enumerate() {
            let calls: Vec<String> = calls.iter().map(ToString::to_string).collect();
            let before = if index > 0 { "\n" } else { "" };
            write!(f, "{before}thread {}: {}", index + 1, calls.join("; "))?;
        }
        Ok(())
    }
}

/// The program of a client of a library (after ρ), in which plain accesses of fields are relaxed.
pub fn program(library: &Library, client: &Client) -> Result<Program, Unsupported> {
    compile::program(library, client, Plain::Relaxed).map(|compiled| compiled.program)
}
