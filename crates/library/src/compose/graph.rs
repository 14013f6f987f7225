//! A client as a graph: what matters of it is which libraries it calls, and where it has SC fences.

use super::interface::{Interface, Method};
use super::names::{Names, declared};
use crate::c::Error;
use crate::c::source::Source;
use crate::code::Site;
use lang_c::ast::StorageClassSpecifier;
use lang_c::ast::{DeclarationSpecifier, ExternalDeclaration, FunctionDefinition, TranslationUnit};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt;

/// Index into [`Client::nodes`].
pub type NodeId = usize;
/// Index into [`Client::functions`].
pub type FunctionId = usize;
/// Index into [`Client::calls`].
pub type CallId = usize;

/// What must be kept apart by fences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// As messages show it.
    pub name: String,
    /// Two calls with this name go to the same object.
    pub(super) is_one: bool,
}

impl Owner {
    /// Do both stand for one and the same object?
    pub(super) fn is(&self, other: &Owner) -> bool {
        self.is_one && self == other
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A call to a library, or an access that counts as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function that is called, or the variable.
    pub what: String,
    /// The library that is called.
    pub owner: Owner,
    /// The place of the call in the client.
    pub site: Site,
    /// The function that it stands in.
    pub function: String,
    /// Where a fence can be put in front of it.
    pub fix: Fixable,
}

/// How a fence gets in front of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fixable {
    /// As a statement in front of the one that begins here.
    Statement(Site),
    /// As the first part of a comma expression.
    Expression,
    /// Not at all: the order of evaluation is not fixed, or something else has to come in between.
    Not,
}

/// What a thread does at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Neither a call to a library nor a fence.
    Nothing,
    /// An SC fence.
    Fence,
    /// A call to a library.
    Call(CallId),
    /// A call of a function of the client.
    Enter(FunctionId),
    /// A call through a pointer, or by a function that is in no file: of any function whose address is taken, or of none.
    EnterAny,
    /// A thread begins with this function.
    Start(FunctionId),
    /// A thread begins with any function whose address is taken.
    StartAny,
    /// A thread ends, and this one goes on.
    Join,
}

/// A node of the control-flow graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// The effect of the node.
    pub step: Step,
    /// Successors.
    pub next: Vec<NodeId>,
    /// Its place in the source, if it has one.
    pub site: Option<Site>,
    /// Of which function it is a part.
    pub function: FunctionId,
}

/// A function of the client.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Entry node.
    pub entry: NodeId,
    /// Exit node: every `return` leads there.
    pub exit: NodeId,
    is_static: bool,
}

/// The interprocedural control-flow graph of a client.
#[derive(Debug, Default)]
pub struct Client {
    /// All functions.
    pub functions: Vec<Function>,
    /// All nodes.
    pub nodes: Vec<Node>,
    /// All calls to libraries.
    pub calls: Vec<Call>,
    /// How many fences there are.
    pub fences: usize,
    /// Functions whose address is taken.
    pub taken: BTreeSet<FunctionId>,
    /// Nodes at which a thread ends, besides the ends of functions.
    pub ends: Vec<NodeId>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
}

impl Client {
    /// Functions that a step may begin.
    pub fn started(&self, step: Step) -> Vec<FunctionId> {
        match step {
            Step::Start(function) => vec![function],
            Step::StartAny => self.taken.iter().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// Functions that a step may call.
    pub fn entered(&self, step: Step) -> Vec<FunctionId> {
        match step {
            Step::Enter(function) => vec![function],
            Step::EnterAny => self.taken.iter().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// Functions in which threads begin: `main`, what is started, and what others than this file may call.
    pub fn roots(&self) -> BTreeSet<FunctionId> {
        let steps = || self.nodes.iter().map(|node| node.step);
        let started: BTreeSet<FunctionId> = steps().flat_map(|step| self.started(step)).collect();
        let called: BTreeSet<FunctionId> = steps().flat_map(|step| self.entered(step)).collect();
        let has_main = self.functions.iter().any(|function| function.name == "main");
        let is_root = |id: &FunctionId| {
            let function = &self.functions[*id];
            let is_open = !has_main && !function.is_static;
            let is_used = !function.is_static || self.taken.contains(id);
            function.name == "main" || started.contains(id) || (!called.contains(id) && is_used) || is_open
        };
        (0..self.functions.len()).filter(is_root).collect()
    }

    /// Names of the functions that threads run.
    pub fn threads(&self) -> Vec<String> {
        self.roots().into_iter().map(|id| self.functions[id].name.clone()).collect()
    }
}

/// What is needed to make nodes of code.
pub struct Builder<'a> {
    /// Maps spans of the preprocessed text to places.
    pub source: &'a Source,
    /// Declarations in scope.
    pub names: Names,
    /// By name: which library, and which of its methods.
    pub methods: FxHashMap<&'a str, (&'a Interface, &'a Method)>,
    /// Functions of the client by name.
    pub by_name: FxHashMap<String, FunctionId>,
    /// The graph built so far.
    pub client: Client,
    /// The function that is being read.
    pub function: FunctionId,
    /// The statement in front of which a fence would come right before what is evaluated next.
    pub front: Option<usize>,
    /// Functions that are in no file.
    pub foreign: BTreeSet<String>,
    /// Libraries of whose objects the client has only one.
    pub single: Vec<String>,
}

impl Builder<'_> {
    /// A message about a place.
    pub fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        let site = self.source.site(offset);
        let file = self.source.file(site).to_owned();
        Error { file, line: site.line, column: site.column, message: message.into() }
    }

    /// A new node, without predecessors.
    pub fn node(&mut self, step: Step, offset: Option<usize>) -> NodeId {
        let site = offset.map(|offset| self.source.site(offset));
        self.client.nodes.push(Node { step, next: Vec::new(), site, function: self.function });
        self.client.nodes.len() - 1
    }

    /// A new node behind another one.
    pub fn then(&mut self, from: NodeId, step: Step, offset: usize) -> NodeId {
        let node = self.node(step, Some(offset));
        self.link(from, node);
        node
    }

    /// An edge from one node to another.
    pub fn link(&mut self, from: NodeId, to: NodeId) {
        if !self.client.nodes[from].next.contains(&to) {
            self.client.nodes[from].next.push(to);
        }
    }
}

/// Makes a graph of a client.
pub fn read(source: &Source, unit: &TranslationUnit, libraries: &[Interface]) -> Result<Client, Error> {
    let mut builder = Builder {
        source,
        names: Names::new(unit),
        methods: FxHashMap::default(),
        by_name: FxHashMap::default(),
        client: Client::default(),
        function: 0,
        front: None,
        foreign: BTreeSet::new(),
        single: Vec::new(),
    };
    for library in libraries {
        for method in &library.methods {
            if let Some((other, _)) = builder.methods.insert(&method.name, (library, method)) {
                let message = format!(
                    "`{}` is a method of {} as well: libraries have to be disjoint",
                    method.name, other.name
                );
                return Err(Error::of_file(&library.name, message));
            }
        }
    }
    let definitions: Vec<&FunctionDefinition> = unit.0.iter().filter_map(|it| definition(&it.node)).collect();
    for definition in &definitions {
        let Some(name) = declared(&definition.declarator.node) else { continue };
        if let Some((library, _)) = builder.methods.get(name.as_str()) {
            let message =
                format!("`{name}` is a method of {}: the client cannot have it as well", library.name);
            return Err(builder.error(definition.declarator.span.start, message));
        }
        builder.function = builder.client.functions.len();
        let (entry, exit) = (builder.node(Step::Nothing, None), builder.node(Step::Nothing, None));
        builder.by_name.insert(name.clone(), builder.function);
        let is_static = definition.specifiers.iter().any(|specifier| {
            matches!(&specifier.node, DeclarationSpecifier::StorageClass(it) if it.node == StorageClassSpecifier::Static)
        });
        builder.client.functions.push(Function { name, entry, exit, is_static });
    }
    builder.find_single(libraries);
    builder.globals(unit)?;
    for definition in definitions {
        let name = declared(&definition.declarator.node).unwrap_or_default();
        let Some(&function) = builder.by_name.get(&name) else { continue };
        builder.function = function;
        builder.body(definition)?;
    }
    builder.assume();
    Ok(builder.client)
}

fn definition(external: &ExternalDeclaration) -> Option<&FunctionDefinition> {
    match external {
        ExternalDeclaration::FunctionDefinition(definition) => Some(&definition.node),
        _ => None,
    }
}

impl Builder<'_> {
    /// Says what is taken for granted.
    fn assume(&mut self) {
        let plain = "variables that are not atomic are accessed without data races";
        self.client.assumptions.push(plain.to_owned());
        if !self.foreign.is_empty() {
            let names: Vec<&str> = self.foreign.iter().map(String::as_str).collect();
            let them =
                if names.len() == 1 { "it is in no file, and is" } else { "they are in no file, and are" };
            self.client.assumptions.push(format!(
                "{}: {them} taken to access nothing that libraries or other threads do",
                names.join(", ")
            ));
        }
        let setups: Vec<&str> =
            self.methods.values().filter(|(_, it)| it.is_setup).map(|(_, it)| &*it.name).collect();
        let mut setups: Vec<&str> = setups.into_iter().collect();
        setups.sort_unstable();
        if !setups.is_empty() {
            self.client
                .assumptions
                .push(format!("{} run before everything else, as their libraries demand", setups.join(", ")));
        }
    }
}
