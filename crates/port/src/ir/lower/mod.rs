//! Threads to a [`Program`]: nodes for what memory sees, edges for control flow.
//!
//! * `main`: what else runs: `main`, and functions that start threads; `window`: while threads run;
//! * `blocks`: the graph of one thread, basic block by basic block;
//! * `events`: what one instruction does to memory;
//! * `address`: where it does so;
//! * `guards`: what may order plain accesses that are left out.

mod address;
mod blocks;
mod events;
mod guards;
mod main;
mod window;

use super::classes::Classes;
use super::code::{Code, FunctionId};
use super::debug;
use super::depend;
use super::escape::{self, Escape};
use super::flow::Flow;
use super::inline::{Body, NO_BLOCK, Note, Reason, Site, Step, inline};
use super::module::{Callee, Op};
use super::pointers::Pointers;
use super::threads::{Start, Thread};
use crate::limit::{Deadline, OutOfTime};
use crate::program::{Edge, Function, Node, NodeKind, Place, Program};
use blocks::Graph;
use guards::Guard;
use rustc_hash::{FxHashMap, FxHashSet};

/// What to look at.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Plain accesses are left out: the program is taken to have no data race.
    pub atomics_only: bool,
    /// The functions are called in any order by any thread, all on one object: each gets the same arguments in every call.
    pub client: bool,
    /// Until when the program is wanted.
    pub deadline: Deadline,
}

/// A program, and the way back to the text.
#[derive(Default, Debug)]
pub struct Ported {
    /// The program.
    pub program: Program,
    /// Which accesses may touch the same memory.
    pub classes: Classes,
    /// What the numbers in [`Node::tag`] mean.
    pub sites: Vec<Site>,
    /// What was treated conservatively.
    pub notes: Vec<Note>,
    /// Whether all dependencies are there; if not, a thread was too large for that.
    pub all_dependencies: bool,
    /// Whether there are functions for others to call, and it was taken that one thread does so, one call after the other.
    pub one_caller: bool,
    /// Functions of other files that threads call, if threads do nothing else: then nothing was looked at.
    pub elsewhere: Vec<Note>,
    /// Where a compare-and-swap that may fail for no reason is not simply tried again.
    pub gives_up: Vec<Site>,
    /// What was taken for granted on the way.
    pub assumptions: Assumptions,
}

/// What is taken for granted where a program gives occasion to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Assumptions {
    /// What calls do inside that were not followed is ordered as their authors want it.
    pub calls: bool,
    /// Allocators look after themselves, and give memory out again only once they have had it back.
    pub allocators: bool,
    /// `FILE` streams look after themselves.
    pub streams: bool,
    /// A variable of type `struct s *` holds the address of an `s`.
    pub types: bool,
    /// No other file calls the functions of these by name.
    pub whole: bool,
    /// Destructors and formatting functions that are called through tables tell other threads nothing.
    pub glue: bool,
    /// The way into a signal's handler, and back, is a fence.
    pub signals: bool,
}

/// The tag of a node where nothing can be put.
pub const NOWHERE: u32 = u32::MAX;

/// Makes a program of threads.
pub fn lower(code: &Code, threads: &[Thread], options: Options) -> Result<Ported, OutOfTime> {
    let mut lower = Lower {
        code,
        options,
        classes: Classes::default(),
        sites: Vec::new(),
        tags: FxHashMap::default(),
        notes: FxHashSet::default(),
        places: FxHashMap::default(),
        starts: threads.iter().filter_map(|t| Some((t.function, t.starts.clone()?))).collect(),
        started: FxHashSet::default(),
        again: options.client,
        all_dependencies: true,
        one_caller: false,
        guards: Vec::new(),
        gives_up: FxHashSet::default(),
        assumptions: Assumptions::default(),
    };
    for (number, object) in code.objects.iter().enumerate() {
        lower.classes.globals.insert(number as u32, (object.leaks, object.name.clone()));
    }
    let mut functions: Vec<Function> = Vec::new();
    for thread in threads {
        let number = functions.len() as u32;
        let body = inline(code, thread.function);
        lower.started.extend(window::starts(code, &body).map(|step| step.site));
        let mut function = lower.graph(thread.function, number, &body, &Flow::new(&body), None)?;
        function.many = options.client || !lower.once(thread);
        functions.push(function);
    }
    let mut elsewhere = if is_elsewhere(&functions) { lower.calls() } else { Vec::new() };
    if options.client {
        functions = vec![together(functions, "any client", true)];
    } else {
        let others = lower.others(threads, &mut functions)?;
        if others.iter().any(|function| function.many && looked_at(function)) {
            elsewhere.clear();
        }
        functions.extend(others);
    }
    let program = Program { functions, locations: lower.classes.locations() };
    let mut notes: Vec<Note> = lower.warnings();
    notes.extend(lower.notes);
    notes.sort();
    notes.dedup();
    let mut gives_up: Vec<Site> = lower.gives_up.into_iter().collect();
    gives_up.sort();
    let assumptions = Assumptions { types: lower.classes.tell_by_type(), ..lower.assumptions };
    Ok(Ported {
        program,
        classes: lower.classes,
        sites: lower.sites,
        notes,
        all_dependencies: lower.all_dependencies,
        one_caller: lower.one_caller,
        elsewhere,
        gives_up,
        assumptions,
    })
}

/// Whether these do nothing but call functions that are not known here.
fn is_elsewhere(functions: &[Function]) -> bool {
    let calls = |node: &Node| matches!(&node.kind, NodeKind::Opaque { .. });
    !functions.iter().any(looked_at) && functions.iter().flat_map(|function| &function.nodes).any(calls)
}

fn looked_at(function: &Function) -> bool {
    function.nodes.iter().any(|node| matches!(&node.kind, NodeKind::Access(_)))
}

/// One function that calls all of these, again and again.
fn together(functions: Vec<Function>, name: &str, many: bool) -> Function {
    let hub = Node { tag: NOWHERE, ..Node::default() };
    let mut out = Function { name: name.to_owned(), nodes: vec![hub], entry: 0, many };
    for function in functions {
        let first = out.nodes.len();
        for mut node in moved(function.nodes, first) {
            let ends = node.next.is_empty();
            if ends {
                node.next.push(Edge::to(0));
            }
            out.nodes.push(node);
        }
        out.nodes[0].next.push(Edge::to(first + function.entry));
    }
    out
}

/// These nodes, so far behind others.
fn moved(nodes: Vec<Node>, by: usize) -> impl Iterator<Item = Node> {
    nodes.into_iter().map(move |mut node| {
        node.next.iter_mut().for_each(|edge| edge.to += by);
        if let NodeKind::Access(access) = &mut node.kind {
            access.depends.iter_mut().for_each(|dependency| dependency.on += by);
        }
        node
    })
}

/// Whether a step ends the program, and has called what is to be called then.
fn exits(code: &Code, step: &Step) -> bool {
    let Op::Call(call) = &step.op else { return false };
    let Callee::Direct(object) = &call.callee else { return false };
    code.objects.get(*object as usize).is_some_and(|known| is_exit(&known.name))
}

/// Whether a function ends the program, and has called what is to be called then.
fn is_exit(name: &str) -> bool {
    matches!(name, "exit" | "quick_exit")
}

struct Lower<'c> {
    code: &'c Code,
    options: Options,
    classes: Classes,
    sites: Vec<Site>,
    tags: FxHashMap<Site, u32>,
    notes: FxHashSet<Note>,
    places: FxHashMap<Site, Option<Place>>,
    starts: FxHashMap<FunctionId, Vec<Start>>,
    /// Where threads start threads.
    started: FxHashSet<Site>,
    /// Whether the function that is being looked at is called again and again, with other arguments.
    again: bool,
    all_dependencies: bool,
    one_caller: bool,
    guards: Vec<Guard>,
    gives_up: FxHashSet<Site>,
    assumptions: Assumptions,
}

/// A thread that is being looked at.
struct ThreadContext<'a> {
    number: u32,
    function: FunctionId,
    body: &'a Body,
    flow: &'a Flow,
    pointers: Pointers<'a>,
    escape: Escape,
    /// The block and the step that is being looked at.
    at: (usize, usize),
    /// Whether a plain access at this step, to what others can get at, was left out.
    left_out: bool,
    /// The steps that count, if not all do: block and step.
    window: Option<&'a dyn Fn(usize, usize) -> bool>,
}

impl Lower<'_> {
    /// The calls met so far that lead out of these files.
    fn calls(&self) -> Vec<Note> {
        let leads_out = |note: &&Note| matches!(note.reason, Reason::External | Reason::Indirect);
        let mut calls: Vec<Note> = self.notes.iter().filter(leads_out).cloned().collect();
        calls.sort();
        calls
    }

    fn graph(
        &mut self,
        function: FunctionId,
        number: u32,
        body: &Body,
        flow: &Flow,
        window: Option<&dyn Fn(usize, usize) -> bool>,
    ) -> Result<Function, OutOfTime> {
        let deadline = self.options.deadline;
        self.notes.extend(body.notes.iter().cloned());
        let mut pointers = Pointers::new(self.code, body);
        let escape = Escape::new(self.code, body, &mut pointers, deadline)?;
        let stored = escape::stored(self.code, body, &mut pointers, &escape.roots, deadline)?;
        pointers.keep(stored);
        // Once more, now that it is known what is kept where.
        let escape = Escape::new(self.code, body, &mut pointers, deadline)?;
        let mut context = ThreadContext {
            number,
            function,
            body,
            flow,
            pointers,
            escape,
            at: (0, 0),
            left_out: false,
            window,
        };
        let mut graph = Graph::default();
        let mut entries: Vec<Option<usize>> = vec![None; body.blocks.len()];
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for (block, entry) in entries.iter_mut().enumerate() {
            deadline.check("looking at addresses")?;
            if block == 0 || !flow.predecessors[block].is_empty() {
                *entry = Some(self.block(&mut context, block, &mut graph, &mut ends));
            }
        }
        for (node, to) in ends {
            if let Some(to) = entries.get(to).copied().flatten() {
                graph.nodes[node].next.push(Edge::to(to));
            }
        }
        self.guards(&graph);
        let mut nodes = graph.nodes;
        let pointers = &mut context.pointers;
        let filled = depend::fill(&mut nodes, &graph.origins, self.code, (body, flow), pointers, deadline)?;
        self.all_dependencies &= filled;
        Ok(Function {
            name: self.readable(function),
            nodes,
            entry: entries.first().copied().flatten().unwrap_or(0),
            many: true,
        })
    }

    /// The name of a function in the source.
    fn readable(&self, id: FunctionId) -> String {
        let in_source = || {
            let file = self.code.files.get(id.file as usize)?;
            let number = self.code.function(id)?.debug?;
            debug::function_name(&file.text, &file.module, number)
        };
        in_source().unwrap_or_else(|| self.code.name(id)).to_owned()
    }

    fn tag(&mut self, site: Site) -> u32 {
        if matches!(site, Site::Before { block: NO_BLOCK, .. }) {
            return NOWHERE;
        }
        if let Some(&tag) = self.tags.get(&site) {
            return tag;
        }
        let tag = self.sites.len() as u32;
        self.sites.push(site);
        self.tags.insert(site, tag);
        tag
    }

    /// Where an instruction stands in the source: the innermost place that is no library.
    fn place(&mut self, site: Site) -> Option<Place> {
        let Site::Before { function, block, index } = site else { return None };
        if let Some(known) = self.places.get(&site) {
            return known.clone();
        }
        let find = || {
            let file = self.code.files.get(function.file as usize)?;
            let blocks = &self.code.function(function)?.blocks;
            let number = blocks.get(block as usize)?.body.get(index as usize)?.debug?;
            let places = debug::places(&file.text, &file.module, number);
            places.iter().find(|place| !is_library(&place.file)).or(places.first()).cloned()
        };
        let place = find();
        self.places.insert(site, place.clone());
        place
    }

    fn node(&mut self, kind: NodeKind, site: Site, depth: u32) -> Node {
        let place = if kind == NodeKind::Nothing { None } else { self.place(site) };
        Node { kind, next: Vec::new(), depth, place, tag: self.tag(site) }
    }
}

/// Whether a file belongs to a compiler or its libraries.
pub(crate) fn is_library(file: &str) -> bool {
    // Clang finds its libraries by way of itself: `/usr/bin/../lib/gcc/…/../../../../include/c++/12/atomic`.
    let parts = [
        "/rustc/",
        "/usr/include/",
        "/usr/lib/",
        "/lib/rustlib/src/",
        "/include/c++/",
        "/lib/gcc/",
        "/lib/clang/",
    ];
    parts.iter().any(|part| file.contains(part))
}

#[cfg(test)]
mod tests {
    use super::is_library;

    #[test]
    fn libraries() {
        for file in [
            "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/atomic_base.h",
            "/opt/llvm/bin/../include/c++/v1/atomic",
            "/opt/llvm/lib/clang/19/include/stdatomic.h",
            "/usr/include/pthread.h",
        ] {
            assert!(is_library(file), "{file}");
        }
        assert!(!is_library("/home/lib/include/queue.h"));
    }
}
