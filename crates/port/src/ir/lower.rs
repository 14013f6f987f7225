//! Threads to a [`Program`]: nodes for what memory sees, edges for control flow.

use super::classes::{Class, Classes, Hints, Origin};
use super::code::{Code, FunctionId, is_stream};
use super::debug;
use super::depend;
use super::flow::Flow;
use super::inline::{Body, Note, Site, Step, inline};
use super::library::Effect;
use super::module::{Call, Callee, End, Local, Offset, Op, Ordering, Value};
use super::pointers::{Pointers, Root};
use super::threads::{Start, Thread};
use crate::program::{Access, Edge, Function, Kind, Node, Order, Place, Program, What, When};
use rustc_hash::{FxHashMap, FxHashSet};

/// What to look at.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Plain accesses are left out: the program is taken to have no data race.
    pub atomics_only: bool,
    /// The functions are called in any order by any thread, all on one object: each gets the same arguments in every call.
    pub client: bool,
}

/// A program, and the way back to the text.
#[derive(Debug)]
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
}

/// The tag of a node where nothing can be put.
pub const NOWHERE: u32 = u32::MAX;

/// Makes a program of threads.
pub fn lower(code: &Code, threads: &[Thread], options: Options) -> Ported {
    let mut lower = Lower {
        code,
        options,
        classes: Classes::default(),
        sites: Vec::new(),
        tags: FxHashMap::default(),
        notes: FxHashSet::default(),
        places: FxHashMap::default(),
        starts: threads.iter().filter_map(|t| Some((t.function, t.starts.clone()?))).collect(),
        all_dependencies: true,
    };
    for (number, object) in code.objects.iter().enumerate() {
        lower.classes.globals.insert(number as u32, (object.leaks, object.name.clone()));
    }
    let mut functions: Vec<Function> = Vec::new();
    for thread in threads {
        let number = functions.len() as u32;
        let mut function = lower.thread(thread.function, number, None);
        function.many = options.client || !lower.once(thread);
        functions.push(function);
    }
    if options.client {
        functions = vec![together(functions)];
    } else if let Some(function) = lower.starter(functions.len() as u32) {
        functions.push(function);
    }
    let program = Program { functions, locations: lower.classes.locations() };
    let mut notes: Vec<Note> = lower.notes.into_iter().collect();
    notes.sort();
    Ported {
        program,
        classes: lower.classes,
        sites: lower.sites,
        notes,
        all_dependencies: lower.all_dependencies,
    }
}

/// One function that calls all of these, again and again.
fn together(functions: Vec<Function>) -> Function {
    let hub = Node { tag: NOWHERE, ..Node::default() };
    let mut out = Function { name: "any client".to_owned(), nodes: vec![hub], entry: 0, many: true };
    for function in functions {
        let first = out.nodes.len();
        for mut node in function.nodes {
            node.next.iter_mut().for_each(|edge| edge.to += first);
            if let What::Access(access) = &mut node.what {
                access.depends.iter_mut().for_each(|dependency| dependency.on += first);
            }
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

struct Lower<'c> {
    code: &'c Code,
    options: Options,
    classes: Classes,
    sites: Vec<Site>,
    tags: FxHashMap<Site, u32>,
    notes: FxHashSet<Note>,
    places: FxHashMap<Site, Option<Place>>,
    starts: FxHashMap<FunctionId, Vec<Start>>,
    all_dependencies: bool,
}

/// A thread that is being looked at.
struct Looking<'a> {
    number: u32,
    function: FunctionId,
    body: &'a Body,
    flow: &'a Flow,
    pointers: Pointers<'a>,
    escaped: FxHashSet<Root>,
    /// The steps that count, if not all do: room and step.
    window: Option<&'a dyn Fn(usize, usize) -> bool>,
}

impl Lower<'_> {
    /// Whether a thread is started only once: in `main`, and not in a loop.
    fn once(&self, thread: &Thread) -> bool {
        let Some([start]) = thread.starts.as_deref() else { return false };
        let Some(function) = self.code.function(start.by).filter(|_| self.code.name(start.by) == "main")
        else {
            return false;
        };
        let next: Vec<Vec<usize>> = function.blocks.iter().map(|block| block.successors()).collect();
        let mut work = next.get(start.block as usize).cloned().unwrap_or_default();
        let mut reached = vec![false; next.len()];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut reached[block], true) {
                work.extend(&next[block]);
            }
        }
        !reached.get(start.block as usize).copied().unwrap_or(true)
    }

    /// `main`, if it starts threads: what it does between the first start and the last join.
    fn starter(&mut self, number: u32) -> Option<Function> {
        let main = self.code.functions().find(|id| self.code.name(*id) == "main")?;
        let body = inline(self.code, main);
        let flow = Flow::new(&body);
        let called = |name: &dyn Fn(&Call) -> bool| -> Vec<(usize, usize)> {
            let mut out = Vec::new();
            for (r, room) in body.rooms.iter().enumerate() {
                for (s, step) in room.steps.iter().enumerate() {
                    if matches!(&step.op, Op::Call(call) if name(call)) {
                        out.push((r, s));
                    }
                }
            }
            out
        };
        let starts = called(&|call| matches!(self.code.effect_of(call), Effect::Starts(..)));
        let joins = called(&|call| match &call.callee {
            Callee::Direct(object) => {
                let name = self.code.objects.get(*object as usize).map_or("", |object| &object.name);
                matches!(name, "pthread_join" | "thrd_join")
            }
            _ => false,
        });
        if starts.is_empty() {
            return None;
        }
        let next_of = |places: &[(usize, usize)]| -> Vec<usize> {
            places.iter().flat_map(|(room, _)| flow.next[*room].clone()).collect()
        };
        let before_of = |places: &[(usize, usize)]| -> Vec<usize> {
            places.iter().flat_map(|(room, _)| flow.before[*room].clone()).collect()
        };
        let behind = flow.from(&next_of(&starts));
        let ahead = flow.to(&before_of(&joins));
        // Threads that nobody waits for may run to the end.
        let all_joined = joins.len() >= starts.len();
        let window = move |room: usize, step: usize| {
            let started = behind[room] || starts.iter().any(|&(r, s)| r == room && s < step);
            let joined = ahead[room] || joins.iter().any(|&(r, s)| r == room && step < s);
            started && (joined || !all_joined)
        };
        let mut function = self.graph(main, number, &body, &flow, Some(&window));
        function.many = false;
        let counts = function.nodes.iter().any(|node| node.what != What::Nothing);
        counts.then_some(function)
    }

    fn thread(
        &mut self,
        id: FunctionId,
        number: u32,
        window: Option<&dyn Fn(usize, usize) -> bool>,
    ) -> Function {
        let body = inline(self.code, id);
        let flow = Flow::new(&body);
        self.graph(id, number, &body, &flow, window)
    }

    fn graph(
        &mut self,
        function: FunctionId,
        number: u32,
        body: &Body,
        flow: &Flow,
        window: Option<&dyn Fn(usize, usize) -> bool>,
    ) -> Function {
        if window.is_none() {
            self.notes.extend(body.notes.iter().cloned());
        }
        let mut pointers = Pointers::new(self.code, body);
        let escaped = pointers.escaped();
        let mut looking = Looking { number, function, body, flow, pointers, escaped, window };
        let mut graph = Graph::default();
        let mut entries: Vec<Option<usize>> = vec![None; body.rooms.len()];
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for (room, entry) in entries.iter_mut().enumerate() {
            if room == 0 || !flow.before[room].is_empty() {
                *entry = Some(self.room(&mut looking, room, &mut graph, &mut ends));
            }
        }
        for (node, to) in ends {
            if let Some(to) = entries.get(to).copied().flatten() {
                graph.nodes[node].next.push(Edge::to(to));
            }
        }
        let mut nodes = graph.nodes;
        let filled = depend::fill(&mut nodes, &graph.origins, self.code, body, flow, &mut looking.pointers);
        self.all_dependencies &= filled;
        Function {
            name: self.readable(function),
            nodes,
            entry: entries.first().copied().flatten().unwrap_or(0),
            many: true,
        }
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

    fn node(&mut self, what: What, site: Site, depth: u32) -> Node {
        let place = if what == What::Nothing { None } else { self.place(site) };
        Node { what, next: Vec::new(), depth, place, tag: self.tag(site) }
    }

    /// The nodes of one room: its first one. Where its last one leads to goes into `ends`.
    fn room(
        &mut self,
        looking: &mut Looking,
        room: usize,
        graph: &mut Graph,
        ends: &mut Vec<(usize, usize)>,
    ) -> usize {
        let body = looking.body;
        let steps = &body.rooms[room].steps;
        let depth = looking.flow.depth[room];
        let mut chain = Chain::default();
        if room == 0 || looking.flow.before[room].len() > 1 {
            let first = steps.iter().find(|step| !matches!(step.op, Op::Phi(_))).map(|step| step.site);
            if let Some(site) = first {
                let node = self.node(What::Nothing, site, depth);
                chain.push(graph, node, None);
            }
        }
        let split = split(steps, &looking.pointers);
        let common = split.map_or(steps.len(), |split| split.at + 1);
        self.steps(looking, room, 0..common, graph, &mut chain);
        let Some(split) = split.filter(|_| chain.last.is_some_and(|last| graph.is_cas(last))) else {
            if common < steps.len() {
                self.steps(looking, room, common..steps.len(), graph, &mut chain);
            }
            self.finish(looking, room, graph, &mut chain, ends);
            return chain.first.unwrap_or_default();
        };
        // What follows a compare-and-swap, once for success and once for failure.
        for (when, to, edge) in
            [(When::Success, split.success, split.edges.0), (When::Failure, split.failure, split.edges.1)]
        {
            let mut branch = Chain { first: chain.first, last: chain.last, when };
            self.steps(looking, room, common..steps.len() - 1, graph, &mut branch);
            let site = match steps[steps.len() - 1].site {
                Site::Before { function, block, .. } => {
                    let to = self.target(function, block, edge);
                    Site::Edge { function, from: block, to }
                }
                edge => edge,
            };
            let node = self.node(What::Nothing, site, depth);
            let node = branch.push(graph, node, None);
            ends.push((node, to));
        }
        chain.first.unwrap_or_default()
    }

    /// The block that an edge leads to, in the text.
    fn target(&self, function: FunctionId, block: u32, edge: usize) -> u32 {
        let block = self.code.function(function).and_then(|f| f.blocks.get(block as usize));
        block.and_then(|block| block.successors().get(edge).copied()).unwrap_or_default() as u32
    }

    fn steps(
        &mut self,
        looking: &mut Looking,
        room: usize,
        range: std::ops::Range<usize>,
        graph: &mut Graph,
        chain: &mut Chain,
    ) {
        let body = looking.body;
        let depth = looking.flow.depth[room];
        for index in range {
            let step = &body.rooms[room].steps[index];
            if matches!(step.op, Op::End(_)) {
                continue;
            }
            let counts = looking.window.is_none_or(|window| window(room, index));
            let events = if counts { self.events(looking, step) } else { Vec::new() };
            if events.is_empty() && step.mark {
                let node = self.node(What::Nothing, step.site, depth);
                chain.push(graph, node, None);
            }
            for what in events {
                let node = self.node(what, step.site, depth);
                chain.push(graph, node, Some((room, index)));
            }
        }
    }

    /// The end of a room.
    fn finish(
        &mut self,
        looking: &Looking,
        room: usize,
        graph: &mut Graph,
        chain: &mut Chain,
        ends: &mut Vec<(usize, usize)>,
    ) {
        let Some(last) = looking.body.rooms[room].steps.last() else { return };
        let depth = looking.flow.depth[room];
        let node = self.node(What::Nothing, last.site, depth);
        let node = chain.push(graph, node, None);
        let Op::End(end) = &last.op else { return };
        let targets = end.successors();
        // Out of a call by an exception that is nowhere in the text: a step where nothing can be put.
        let implicit = matches!(end, End::Any(_)) && !self.is_jump(last.site);
        for (edge, to) in targets.into_iter().enumerate() {
            let mut from = node;
            if implicit && edge > 0 {
                let through = Node { depth, tag: NOWHERE, ..Node::default() };
                let number = graph.add(through, None);
                graph.nodes[node].next.push(Edge::to(number));
                from = number;
            }
            ends.push((from, to));
        }
    }

    /// Whether an instruction of the text says where control goes, and is no call.
    fn is_jump(&self, site: Site) -> bool {
        let Site::Before { function, block, index } = site else { return false };
        let block = self.code.function(function).and_then(|f| f.blocks.get(block as usize));
        let op = block.and_then(|block| block.body.get(index as usize)).map(|instruction| &instruction.op);
        op.is_some_and(|op| matches!(op, Op::End(_)) && op.call().is_none())
    }

    /// What memory sees of a step.
    fn events(&mut self, looking: &mut Looking, step: &Step) -> Vec<What> {
        let one = |access: Option<Access>| access.map(What::Access).into_iter().collect();
        match &step.op {
            Op::Load { pointer, size, order, volatile } => {
                let order = self.order(*order);
                one(self.access(looking, pointer, *size, Kind::Load, order, *volatile))
            }
            Op::Store { pointer, size, order, volatile, .. } => {
                let order = self.order(*order);
                one(self.access(looking, pointer, *size, Kind::Store, order, *volatile))
            }
            Op::Rmw { pointer, size, order, .. } => {
                let order = self.order(Some(*order));
                one(self.access(looking, pointer, *size, Kind::Rmw, order, false))
            }
            Op::CompareExchange { pointer, size, success, failure, .. } => {
                let (order, failure) = (self.order(Some(*success)), self.order(Some(*failure)));
                let access = self.access(looking, pointer, *size, Kind::Cas, order, false);
                one(access.map(|access| Access { failure, ..access }))
            }
            Op::Fence(order) => vec![What::Fence(self.order(Some(*order)))],
            Op::Unknown(name, _) => vec![self.opaque(name.clone(), None)],
            Op::Call(call) => self.called(looking, call),
            _ => Vec::new(),
        }
    }

    fn order(&self, order: Option<Ordering>) -> Order {
        match order {
            None => Order::Plain,
            Some(Ordering::Unordered | Ordering::Monotonic) => Order::Relaxed,
            Some(Ordering::Acquire) => Order::Acquire,
            Some(Ordering::Release) => Order::Release,
            Some(Ordering::AcquireRelease) => Order::AcqRel,
            Some(Ordering::SequentiallyConsistent) => Order::SeqCst,
        }
    }

    /// An access, unless it is to memory that only this thread knows.
    fn access(
        &mut self,
        looking: &mut Looking,
        pointer: &Value,
        size: u64,
        kind: Kind,
        order: Order,
        volatile: bool,
    ) -> Option<Access> {
        if self.options.atomics_only && order == Order::Plain && !volatile {
            return None;
        }
        let class = self.class(looking, pointer, size, Offset::ZERO)?;
        let location = self.classes.number(class);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        Some(Access { kind, order, failure: Order::Relaxed, location, size, volatile, depends: Vec::new() })
    }

    /// Everything that other threads can see, or what is at `class`.
    fn opaque(&mut self, name: String, class: Option<Class>) -> What {
        let anywhere = Class {
            at: vec![(Origin::Unknown, Offset::ANY)],
            size: 0,
            hints: Hints::default(),
            stable: false,
        };
        What::Opaque { name, location: self.classes.number(class.unwrap_or(anywhere)) }
    }

    /// What a call does that was not followed.
    fn called(&mut self, looking: &mut Looking, call: &Call) -> Vec<What> {
        let name = match &call.callee {
            Callee::Direct(object) => {
                self.code.objects.get(*object as usize).map(|object| object.name.clone()).unwrap_or_default()
            }
            Callee::Indirect(_) => "a pointer to a function".to_owned(),
            Callee::Assembly(..) => "assembly".to_owned(),
        };
        let length = match call.arguments.get(2) {
            Some(Value::Int(length)) => u64::try_from(*length).unwrap_or(0),
            _ => 0,
        };
        if let Some(fence) = fence_instruction(&name, &call.arguments) {
            return fence;
        }
        let effect = self.code.effect_of(call);
        let mut plain = |at: usize, kind: Kind, looking: &mut Looking| {
            let access = self.access(looking, call.arguments.get(at)?, length, kind, Order::Plain, false);
            access.map(What::Access)
        };
        match effect {
            Effect::None | Effect::Ends | Effect::Allocates | Effect::Returns => Vec::new(),
            Effect::Copies => [plain(1, Kind::Load, looking), plain(0, Kind::Store, looking)]
                .into_iter()
                .flatten()
                .collect(),
            Effect::Fills => plain(0, Kind::Store, looking).into_iter().collect(),
            Effect::Access(argument, kind, order) => {
                let Some(pointer) = call.arguments.get(argument) else { return Vec::new() };
                let access = self.access(looking, pointer, 1, kind, order, false);
                // Large: no instruction of the text that could be made stronger.
                access.map(|access| What::Access(Access { size: u32::MAX, ..access })).into_iter().collect()
            }
            // Starting a thread: what came before is seen by it. Accesses of other threads see no difference.
            Effect::Starts(..) => Vec::new(),
            Effect::Arguments => {
                let pointers = call.arguments.iter().enumerate().filter(|(i, _)| !call.numbers.has(*i));
                let classes: Vec<Class> =
                    pointers.filter_map(|(_, value)| self.class(looking, value, 0, Offset::ANY)).collect();
                classes.into_iter().map(|class| self.opaque(name.clone(), Some(class))).collect()
            }
            Effect::Unknown => vec![self.opaque(name, None)],
        }
    }

    /// The class of an address; `None` if only this thread can get there, or nobody writes there.
    fn class(&mut self, looking: &mut Looking, pointer: &Value, size: u64, more: Offset) -> Option<Class> {
        let roots = looking.pointers.roots(pointer);
        let mut at = Vec::new();
        let mut stable = true;
        for (root, offset) in roots {
            let offset = offset.plus(more);
            let once = |local: Local| {
                looking
                    .pointers
                    .place(local)
                    .map_or(!self.options.client, |(room, _)| !looking.flow.repeats(room))
                    && !self.options.client
            };
            match root {
                Root::Nowhere => {}
                Root::Global(object) => {
                    let known = self.code.objects.get(object as usize)?;
                    if known.constant || known.thread_local && !known.leaks {
                        continue;
                    }
                    stable &= !known.thread_local;
                    at.push((Origin::Global(object), offset));
                }
                Root::Stack(local) | Root::Heap(local) if looking.escaped.contains(&root) => {
                    stable &= once(local);
                    at.push((Origin::Own(looking.number, local), offset));
                }
                Root::Stack(_) | Root::Heap(_) => {}
                Root::Value(local) if self.is_stream(looking, local) => {}
                Root::Value(local) => {
                    stable &= once(local);
                    let passed = self.passed(looking, local);
                    if passed.is_empty() {
                        at.push((Origin::Value(looking.number, local), offset));
                    }
                    at.extend(passed.into_iter().map(|(origin, before)| (origin, before.plus(offset))));
                }
                Root::Unknown => {
                    stable = false;
                    at.push((Origin::Unknown, Offset::ANY));
                }
            }
        }
        at.sort_unstable();
        at.dedup();
        if at.is_empty() {
            return None;
        }
        let hints = self.hints(looking, pointer, more);
        Some(Class { at, size, hints, stable })
    }

    /// Whether a value is a stream of the C library.
    fn is_stream(&self, looking: &Looking, local: Local) -> bool {
        let Some(Op::Load { pointer: Value::Address(object, _), .. }) = looking.pointers.def(local) else {
            return false;
        };
        self.code.objects.get(*object as usize).is_some_and(|object| is_stream(&object.name))
    }

    /// What the thread's argument is, if all places are known where the thread is started.
    fn passed(&self, looking: &Looking, local: Local) -> Vec<(Origin, Offset)> {
        if local != 0 || looking.body.parameters == 0 || self.options.client {
            return Vec::new();
        }
        let mut out = Vec::new();
        for start in self.starts.get(&looking.function).into_iter().flatten() {
            match &start.argument {
                Value::Address(symbol, offset) => {
                    out.push((Origin::Global(self.code.object(start.by.file, *symbol)), *offset));
                }
                Value::Int(_) => {}
                Value::Local(local) => match self.own_memory(start.by, *local) {
                    Some((made, offset)) => out.push((Origin::Passed(start.by, made), offset)),
                    None => return Vec::new(),
                },
                Value::Constant(_) => return Vec::new(),
            }
        }
        out
    }

    /// Whether a value is memory that a function has made: the value that is its address, and how far into it.
    fn own_memory(&self, by: FunctionId, mut local: Local) -> Option<(Local, Offset)> {
        let function = self.code.function(by)?;
        let mut offset = Offset::ZERO;
        for _ in 0..32 {
            let mut all = function.blocks.iter().flat_map(|block| &block.body);
            let base = match &all.find(|instruction| instruction.result == Some(local))?.op {
                Op::Alloca => return Some((local, offset)),
                Op::Call(call) if self.code.effect(by.file, call) == Effect::Allocates => {
                    return Some((local, offset));
                }
                Op::Copy(base) => base,
                Op::Gep { base, offset: more, .. } => {
                    offset = offset.plus(*more);
                    base
                }
                _ => return None,
            };
            let Value::Local(next) = base else { return None };
            local = *next;
        }
        None
    }

    /// What else is known of an address.
    fn hints(&self, looking: &Looking, pointer: &Value, more: Offset) -> Hints {
        let mut hints = Hints::default();
        let mut value = pointer;
        let mut offset = more;
        for _ in 0..64 {
            let Value::Local(local) = value else { break };
            if let Some(&align) = looking.body.aligns.get(local)
                && offset.every == 0
                && align > hints.aligned.0
            {
                hints.aligned = (align, offset.at.rem_euclid(align.min(1 << 32) as i64) as u64);
            }
            if let Some(&(file, number)) = looking.body.pointees.get(local)
                && let Some(file) = self.code.files.get(file as usize)
                && let Some(node) = debug::node(&file.text, &file.module, number)
                && let Some(size) = debug::size(&file.text, &file.module, number)
            {
                let unique = debug::field(node, "identifier").unwrap_or_default();
                if let Some(name) = debug::field(node, "name").filter(|_| hints.inside.len() < 4) {
                    hints.inside.push((format!("{name}\0{unique}"), size, offset));
                }
            }
            value = match looking.pointers.def(*local) {
                Some(Op::Gep { base, offset: further, .. }) => {
                    offset = offset.plus(*further);
                    base
                }
                Some(Op::Copy(base)) => base,
                _ => break,
            };
        }
        hints
    }
}

/// Fence instructions that stand in the text as they are. `dmb ishst` has no order in C11: it counts for nothing.
fn fence_instruction(name: &str, arguments: &[Value]) -> Option<Vec<What>> {
    let order = match (name, arguments) {
        ("llvm.x86.sse2.mfence", _) => Order::SeqCst,
        (
            "llvm.aarch64.dmb" | "llvm.aarch64.dsb" | "llvm.arm.dmb" | "llvm.arm.dsb",
            [Value::Int(11 | 15)],
        ) => Order::SeqCst,
        ("llvm.aarch64.dmb", [Value::Int(9 | 13)]) => Order::Acquire,
        ("llvm.aarch64.dmb" | "llvm.arm.dmb", _) => return Some(Vec::new()),
        _ => return None,
    };
    Some(vec![What::Fence(order)])
}

/// Whether a file belongs to a compiler or its libraries.
pub(super) fn is_library(file: &str) -> bool {
    ["/rustc/", "/usr/include/", "/usr/lib/", "/lib/rustlib/src/"].iter().any(|part| file.contains(part))
}

/// Nodes, and the steps that they come from.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    origins: Vec<Option<(usize, usize)>>,
}

impl Graph {
    fn add(&mut self, node: Node, origin: Option<(usize, usize)>) -> usize {
        self.nodes.push(node);
        self.origins.push(origin);
        self.nodes.len() - 1
    }

    fn is_cas(&self, node: usize) -> bool {
        matches!(&self.nodes[node].what, What::Access(access) if access.kind == Kind::Cas)
    }
}

/// Nodes one behind the other.
#[derive(Default)]
struct Chain {
    first: Option<usize>,
    last: Option<usize>,
    /// When control goes from the last one to the next.
    when: When,
}

impl Chain {
    fn push(&mut self, graph: &mut Graph, node: Node, origin: Option<(usize, usize)>) -> usize {
        let number = graph.add(node, origin);
        if let Some(last) = self.last {
            graph.nodes[last].next.push(Edge { to: number, when: std::mem::take(&mut self.when) });
        }
        self.first.get_or_insert(number);
        self.last = Some(number);
        number
    }
}

/// A compare-and-swap whose outcome decides where the room ends.
#[derive(Clone, Copy)]
struct Split {
    /// The step.
    at: usize,
    /// Where control goes if it succeeds.
    success: usize,
    /// Where control goes if it fails.
    failure: usize,
    /// The numbers of these two edges.
    edges: (usize, usize),
}

/// Looks for one: `%r = cmpxchg …; br (extractvalue %r, 1)`, or a comparison of what it read with what it expected.
fn split(steps: &[Step], pointers: &Pointers) -> Option<Split> {
    let Op::End(End::Branch(Value::Local(condition), yes, no)) = &steps.last()?.op else { return None };
    let of = |value: &Value, index: u32| match value {
        Value::Local(local) => match pointers.def(*local)? {
            Op::Extract(Value::Local(from), indices) if indices[..] == [index] => Some(*from),
            _ => None,
        },
        _ => None,
    };
    let (from, positive) = match pointers.def(*condition)? {
        Op::Extract(..) => (of(&Value::Local(*condition), 1)?, true),
        Op::Compare(how, a, b) if matches!(how.as_str(), "eq" | "ne") => {
            let from = of(a, 0).or(of(b, 0))?;
            let other = if of(a, 0).is_some() { b } else { a };
            match pointers.def(from)? {
                // One that may fail for no reason can have read what it expected.
                Op::CompareExchange { expected, weak: false, .. } if expected == other => (from, how == "eq"),
                _ => return None,
            }
        }
        _ => return None,
    };
    let at = steps.iter().position(|step| step.result == Some(from))?;
    matches!(steps[at].op, Op::CompareExchange { .. }).then_some(match positive {
        true => Split { at, success: *yes, failure: *no, edges: (0, 1) },
        false => Split { at, success: *no, failure: *yes, edges: (1, 0) },
    })
}
