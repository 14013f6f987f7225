//! What runs besides the threads: `main`, or functions that others call, and other functions that start threads.

use super::window::{Window, starts};
use super::{Lower, together};
use crate::graph::reachable;
use crate::ir::code::FunctionId;
use crate::ir::flow::Flow;
use crate::ir::inline::{Body, Site, inline};
use crate::ir::module::{Op, Terminator};
use crate::ir::threads::{self, Thread, ThreadOrigin};
use crate::limit::OutOfTime;
use crate::program::{Function, NodeKind};
use rustc_hash::FxHashSet;

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

    /// All that runs at the same time as the threads and is none of them.
    pub(super) fn others(&mut self, found: &[Thread], first: u32) -> Result<Vec<Function>, OutOfTime> {
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
        // Functions that start threads and have no caller here may have done so at any time.
        let mut elsewhere: Vec<FunctionId> = threads::starts(self.code)
            .into_iter()
            .filter(|site| !named && !within.contains(site) && !self.started.contains(site))
            .filter_map(|site| if let Site::Before { function, .. } = site { Some(function) } else { None })
            .collect();
        elsewhere.dedup();
        // Threads that threads start go on when their own have ended.
        let closes = self.started.is_empty();
        let windows: Vec<Window> =
            roots.iter().map(|root| Window::new(self.code, &root.body, &root.flow, closes)).collect();
        // Where it is unknown when threads begin, or they go on between two calls, they may run at all times.
        let begins = elsewhere.is_empty() && !within.is_empty();
        let ends = main.is_some() || roots.iter().zip(&windows).all(|(root, window)| self.ends(root, window));
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
        if main.is_none() && !roots.is_empty() {
            self.one_caller = true;
            functions = vec![together(functions, "the caller", false)];
        }
        self.again = true;
        let mut unknown = Vec::new();
        for id in elsewhere {
            let root = self.root(id);
            let number = first + (roots.len() + unknown.len()) as u32;
            unknown.push(self.graph(id, number, &root.body, &root.flow, None)?);
        }
        if !unknown.is_empty() {
            functions.push(together(unknown, "any caller", true));
        }
        functions.retain(counts);
        Ok(functions)
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

fn counts(function: &Function) -> bool {
    function.nodes.iter().any(|node| !matches!(node.kind, NodeKind::Nothing | NodeKind::MayFence))
}
