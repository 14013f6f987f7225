//! What runs besides the threads: `main`, or functions that others call, other functions that start threads, and functions
//! whose address is given to who knows whom.

use super::window::{Window, starts};
use super::{Lower, NOWHERE, exits, is_exit, moved, together};
use crate::graph::reachable;
use crate::ir::code::{Code, FunctionId};
use crate::ir::flow::Flow;
use crate::ir::given::{Given, called_by, calls_others, constructors, given, reached_from};
use crate::ir::inline::{Body, Note, Reason, Site, inline};
use crate::ir::module::{Op, Terminator};
use crate::ir::threads::{self, Thread, ThreadOrigin};
use crate::limit::OutOfTime;
use crate::program::{Edge, Function, Node, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A function that is no thread.
struct Root {
    id: FunctionId,
    body: Body,
    flow: Flow,
}

impl Lower<'_> {
    /// Whether a thread is started only once: in `main`, and not in a loop.
    pub(super) fn once(&self, thread: &Thread) -> bool {
        let Some([start]) = thread.starts.as_deref() else { return false };
        let Some(function) = self.code.function(start.by).filter(|_| self.code.name(start.by) == "main")
        else {
            return false;
        };
        let next = |block: usize| function.blocks[block].successors();
        let (many, block) = (function.blocks.len(), start.block as usize);
        block < many && !reachable(many, next(block), next).contains(block)
    }

    /// All that runs at the same time as the threads and is none of them. To the threads it adds what they run when they end.
    pub(super) fn others(
        &mut self,
        found: &[Thread],
        threads: &mut [Function],
    ) -> Result<Vec<Function>, OutOfTime> {
        let first = threads.len() as u32;
        let named = found.iter().all(|thread| thread.origin == ThreadOrigin::Named);
        let is_thread = |id: &FunctionId| found.iter().any(|thread| thread.function == *id);
        let main = threads::main(self.code);
        let ids: Vec<FunctionId> = match main {
            Some(main) => vec![main],
            // A user who names threads says what runs.
            None if named => Vec::new(),
            None => self.code.functions().filter(|id| self.is_open(*id)).collect(),
        };
        let ids = ids.into_iter().filter(|id| !is_thread(id));
        let roots: Vec<Root> = ids.map(|id| self.root(id)).collect();
        let within: FxHashSet<Site> =
            roots.iter().flat_map(|root| starts(self.code, &root.body)).map(|step| step.site).collect();
        if named && within.is_empty() {
            return Ok(Vec::new());
        }
        let given = if named { Given::default() } else { given(self.code, found) };
        let is_new = |site: &Site| !named && !within.contains(site) && !self.started.contains(site);
        let elsewhere = self.starters(threads::starts(self.code).into_iter().filter(is_new).collect());
        // Threads that threads start go on when their own have ended.
        let closes = self.started.is_empty();
        // Who was given a function may call it from then on.
        let opens = !given.away.is_empty();
        let windows: Vec<Window> =
            roots.iter().map(|root| Window::new(self.code, &root.body, &root.flow, closes, opens)).collect();
        // Where it is unknown when threads begin, or they go on between two calls, they may run at all times.
        let begins = elsewhere.is_empty() && !within.is_empty();
        let all_end = roots.iter().zip(&windows).all(|(root, window)| self.ends(root, window));
        // Who leaves `main` by an exception ends the program, and nothing else is called.
        let over = roots.iter().zip(&windows).all(|(root, window)| returns(root, window));
        let exits = roots.iter().zip(&windows).any(|(root, window)| exits_meanwhile(self.code, root, window));
        let ends = main.is_some() || all_end;
        let mut functions = Vec::new();
        self.again = main.is_none();
        for (root, window) in roots.iter().zip(&windows) {
            let number = first + functions.len() as u32;
            let open = |block: usize, step: usize| window.is_open(block, step);
            let window: Option<&dyn Fn(usize, usize) -> bool> =
                if begins && ends { Some(&open) } else { None };
            let function = self.graph(root.id, number, &root.body, &root.flow, window)?;
            functions.push(Function { many: false, ..function });
        }
        self.again = true;
        let mut number = first + roots.len() as u32;
        let mut unknown = self.all(&elsewhere, &mut number)?;
        let away: Vec<FunctionId> = given.away.iter().map(|(id, _)| *id).collect();
        unknown.extend(self.all(&away, &mut number)?);
        let mut called = given.away;
        // Who reads a table may call what stands there.
        if self.notes.iter().any(|note| note.reason == Reason::Indirect) {
            unknown.extend(self.all(&given.kept, &mut number)?);
            called.extend(given.kept.iter().map(|&id| (id, None)));
        }
        // What has its turn behind others, in the thread that they run in.
        let at_thread_end = self.all(&given.at_thread_end, &mut number)?;
        let mut ending: Vec<&mut Function> = functions.iter_mut().chain(threads.iter_mut()).collect();
        self.behind(at_thread_end, "at the end of a thread", &mut ending, |_, node| node.next.is_empty());
        let mut others: Vec<&mut Function> = threads.iter_mut().chain(&mut unknown).collect();
        let exits = exits || others.iter().any(|function| function.nodes.iter().any(|node| self.exits(node)));
        let last = if begins && over && !exits { Vec::new() } else { self.all(&given.at_exit, &mut number)? };
        self.behind(last.clone(), "at the end", &mut others, Lower::exits);
        let mut callers: Vec<&mut Function> = functions.iter_mut().collect();
        self.behind(last.clone(), "at the end", &mut callers, |_, node| node.next.is_empty());
        if functions.is_empty() && !last.is_empty() {
            functions.push(together(last, "at the end", false));
        }
        if main.is_none() && !roots.is_empty() {
            self.one_caller = true;
            functions = vec![together(functions, "the caller", false)];
        }
        self.assumptions.glue |= given.glue;
        self.assumptions.signals |= given.by_signals;
        let by_name = |id: FunctionId| self.is_open(id) && Some(id) != main && !is_thread(&id);
        self.assumptions.whole |=
            main.is_some() && !named && calls_others(self.code) && self.code.functions().any(by_name);
        for (id, site) in called {
            let site = site.unwrap_or(Site::Before { function: id, block: 0, index: 0 });
            self.notes.insert(Note { site, reason: Reason::Given, name: self.readable(id) });
        }
        if !unknown.is_empty() {
            functions.push(together(unknown, "any caller", true));
        }
        functions.retain(counts);
        Ok(functions)
    }

    /// These functions, all that they do.
    fn all(&mut self, ids: &[FunctionId], number: &mut u32) -> Result<Vec<Function>, OutOfTime> {
        let mut out = Vec::new();
        for &id in ids {
            let root = self.root(id);
            out.push(self.graph(id, *number, &root.body, &root.flow, None)?);
            *number += 1;
        }
        Ok(out)
    }

    /// The functions from which threads are started at these places, and that nobody calls here. They may have done so at any
    /// time; constructors, before `main`, one after the other.
    fn starters(&self, sites: Vec<Site>) -> Vec<FunctionId> {
        let code = self.code;
        let by: FxHashSet<FunctionId> = sites
            .into_iter()
            .filter_map(|site| if let Site::Before { function, .. } = site { Some(function) } else { None })
            .collect();
        if by.is_empty() {
            return Vec::new();
        }
        let constructors = constructors(code);
        let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
        for id in code.functions() {
            called_by(code, id).for_each(|callee| callers.entry(callee).or_default().push(id));
        }
        let mut leading: FxHashSet<FunctionId> = by.clone();
        let mut work: Vec<FunctionId> = by.iter().copied().collect();
        while let Some(id) = work.pop() {
            let callers = callers.get(&id).into_iter().flatten();
            work.extend(callers.copied().filter(|&caller| leading.insert(caller)));
        }
        let first =
            |id: &FunctionId| !callers.contains_key(id) || self.is_open(*id) || constructors.contains(id);
        let mut out: Vec<FunctionId> = leading.into_iter().filter(first).collect();
        // Functions that call one another, and whoever is cut off from its callers.
        let covered: FxHashSet<FunctionId> = out.iter().flat_map(|&id| reached_from(code, id)).collect();
        out.extend(by.into_iter().filter(|id| !covered.contains(id)));
        if out.iter().any(|id| constructors.contains(id)) {
            out.extend(constructors);
        }
        let main = threads::main(code);
        out.retain(|id| Some(*id) != main && code.name(*id) != "main");
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Lets functions run these, in any order, behind some of their nodes.
    fn behind(
        &self,
        last: Vec<Function>,
        name: &str,
        functions: &mut [&mut Function],
        starts: impl Fn(&Self, &Node) -> bool,
    ) {
        if last.is_empty() {
            return;
        }
        let mut last = together(last, name, false);
        // And then they are over.
        let over = Node { tag: NOWHERE, ..Node::default() };
        let end = last.nodes.len();
        last.nodes[last.entry].next.push(Edge::to(end));
        last.nodes.push(over);
        for function in functions {
            let first = function.nodes.len();
            let (entry, mut found) = (first + last.entry, false);
            for node in function.nodes.iter_mut().filter(|node| starts(self, node)) {
                node.next.push(Edge::to(entry));
                found = true;
            }
            if found {
                function.nodes.extend(moved(last.nodes.clone(), first));
            }
        }
    }

    /// Whether a node is where a call ends the program, and what is to be called then is called.
    fn exits(&self, node: &Node) -> bool {
        let Some(&Site::Before { function, block, index }) = self.sites.get(node.tag as usize) else {
            return false;
        };
        let block = self.code.function(function).and_then(|f| f.blocks.get(block as usize));
        let call = block.and_then(|block| block.body.get(index as usize)?.op.call());
        node.kind == NodeKind::Nothing
            && call.is_some_and(|call| {
                is_exit(self.code.callee(function.file, call))
                    && self.code.body_of(function.file, call).is_none()
            })
    }

    fn root(&self, id: FunctionId) -> Root {
        let body = inline(self.code, id);
        let flow = Flow::new(&body);
        Root { id, body, flow }
    }

    /// Whether no thread runs any more wherever a function is left.
    fn ends(&self, root: &Root, window: &Window) -> bool {
        root.body.blocks.iter().enumerate().all(|(number, block)| {
            let Some(last) = block.steps.last() else { return true };
            let left = matches!(last.op, Op::Terminator(Terminator::Return(_))) || self.throws(last.site);
            !left || !window.is_open(number, block.steps.len() - 1)
        })
    }

    /// Whether an instruction leaves its function by an exception.
    fn throws(&self, site: Site) -> bool {
        let Site::Before { function, block, index } = site else { return false };
        let block = self.code.function(function).and_then(|f| f.blocks.get(block as usize));
        let instruction = block.and_then(|block| block.body.get(index as usize));
        instruction.is_some_and(|instruction| instruction.op == Op::Terminator(Terminator::Resume))
    }

    /// Whether others can call a function, and it is not the library's.
    fn is_open(&self, id: FunctionId) -> bool {
        let name = self.code.name(id);
        let of_library = ["_ZNSt", "_ZNKSt", "_ZSt", "_ZN3std", "_ZN4core", "_ZN5alloc"];
        self.code.function(id).is_some_and(|function| !function.internal)
            && !of_library.iter().any(|prefix| name.starts_with(prefix))
    }
}

/// Whether no thread runs any more wherever a function returns.
fn returns(root: &Root, window: &Window) -> bool {
    root.body.blocks.iter().enumerate().all(|(number, block)| {
        let returns =
            matches!(block.steps.last().map(|last| &last.op), Some(Op::Terminator(Terminator::Return(_))));
        !returns || !window.is_open(number, block.steps.len() - 1)
    })
}

/// Whether a function ends the program while a thread runs.
fn exits_meanwhile(code: &Code, root: &Root, window: &Window) -> bool {
    root.body.blocks.iter().enumerate().any(|(number, block)| {
        let steps = block.steps.iter().enumerate();
        steps.filter(|(at, _)| window.is_open(number, *at)).any(|(_, step)| exits(code, step))
    })
}

fn counts(function: &Function) -> bool {
    function.nodes.iter().any(|node| !matches!(node.kind, NodeKind::Nothing | NodeKind::MayFence))
}
