//! Several libraries in one client: an SC fence between calls to different ones (\[RoboCop24] §6).
//!
//! Libraries that are robust one by one make robust programs if, in every thread, an SC fence stands between calls to
//! different ones. [`check`] looks for paths that have none, [`fix`](fix::fix) puts them in.
//!
//! * `interface`: what of a library matters here: names of methods, and which argument is its object;
//! * `names`: what names in a client stand for: functions, atomic variables, objects;
//! * `graph`: a client as a graph of calls and fences, made by `statements`, `expressions` and `calls`;
//! * `flow`: which calls may be the last ones before a node, with no fence since;
//! * `path`: a path from one call to the next;
//! * `promises`: are methods that are for one thread called by one thread?
//! * `merge`: several libraries as one, to try clients of all of them.
//!
//! *Why threads inherit.* Starting and joining a thread orders accesses, but is no SC fence: `set1(); start(get2)` beside
//! `set2(); fence; get1()` is store buffering. So a new thread begins with what its creator called last, and whoever joins a
//! thread goes on with what that called last.
//!
//! *What counts as a library.* Each object of a library is one by itself, as the proof speaks of one object; objects that
//! cannot be told apart are taken to be different. So is each atomic variable of the client (one location is always robust), and
//! mutexes and the like, which order accesses too.
//!
//! *Why not [`code`](crate::code).* The code of a library has no calls (helpers are inlined), one order of evaluation and no
//! jumps, and what cannot be modelled is refused. A client may be any C program: with recursion, `goto`, pointers to functions
//! and unsequenced calls, of which nothing but calls and fences matters. So its graph is made from the syntax tree.

mod answer;
mod calls;
mod expressions;
pub mod fix;
mod flow;
mod graph;
pub mod interface;
mod merge;
mod names;
mod path;
mod promises;
mod statements;

pub use graph::{Call, Fixable};
pub use interface::Interface;

use crate::c::{self, Error};
use crate::client::{self, Bounds, Tried, try_witness_among};
use crate::code::{Library, Site};

/// Two calls with no SC fence in between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// What is called first.
    pub earlier: Call,
    /// What is called next.
    pub later: Call,
    /// Where a thread passes on its way from one to the other.
    pub path: Vec<Site>,
}

/// What is known about a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Composition {
    /// Paths of its sources.
    pub files: Vec<String>,
    /// Functions in which threads begin.
    pub threads: Vec<String>,
    /// Calls to libraries, and accesses that count as such.
    pub calls: usize,
    /// SC fences of the client itself.
    pub fences: usize,
    /// Missing fences, in the order of the later call.
    pub gaps: Vec<Gap>,
    /// Promises to libraries that may not be kept, in words.
    pub broken: Vec<String>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
}

impl Composition {
    /// A site as people write it.
    pub fn place(&self, site: Site) -> String {
        let file = self.files.get(site.file as usize).map_or("?", String::as_str);
        format!("{file}:{}:{}", site.line, site.column)
    }
}

/// Looks for calls to different libraries with no SC fence in between; `macros` are defined beforehand.
pub fn check(
    path: &str,
    text: &[u8],
    macros: &[String],
    libraries: &[Interface],
) -> Result<Composition, Error> {
    c::on_deep_stack(path, || {
        let (source, unit) = c::parse(path, text, macros)?;
        let mut client = graph::read(&source, &unit, libraries)?;
        let flow = flow::Flow::new(&client);
        let broken = promises::broken(&mut client, libraries);
        Ok(Composition {
            files: source.files.clone(),
            threads: client.threads(),
            calls: client.calls.len(),
            fences: client.fences,
            gaps: flow.gaps(&client),
            broken,
            assumptions: client.assumptions,
        })
    })
}

/// Looks for a client of all libraries together that calls them in the order of the gaps, with no fence in between, and one after the
/// other in no other order.
pub fn confirm(libraries: &[&Library], gaps: &[Gap], bounds: &Bounds) -> Option<Tried> {
    let merged = merge::merge(libraries);
    let is_method = |call: &Call| merged.methods.iter().any(|method| method.name == call.what);
    let sessions: Vec<Vec<String>> = gaps
        .iter()
        .filter(|gap| is_method(&gap.earlier) && is_method(&gap.later))
        .map(|gap| vec![gap.earlier.what.clone(), gap.later.what.clone()])
        .collect();
    let of = |name: &String| {
        libraries.iter().position(|library| library.methods.iter().any(|method| method.name == *name))
    };
    let is_missing = |pair: &[client::Call]| {
        let (earlier, later) = (&pair[0].method, &pair[1].method);
        of(earlier) == of(later) || sessions.iter().any(|gap| gap[0] == *earlier && gap[1] == *later)
    };
    let is_like_it =
        |client: &client::Client| client.threads.iter().all(|calls| calls.windows(2).all(is_missing));
    (!sessions.is_empty()).then(|| try_witness_among(&merged, &sessions, bounds, &is_like_it))
}
