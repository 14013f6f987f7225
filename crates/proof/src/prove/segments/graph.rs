//! The control-flow graph of a method.

use super::LoopId;
use seqcst_c11::code::{Access, AccessKind, Expr, LocalId, Method, Mode, Statement};

/// What happens at a node.
pub enum NodeKind {
    Pass,
    Access(Access),
    /// The fence that an SC access begins with.
    FenceOf(Access),
    Assign(LocalId, Expr),
    Head(LoopId),
    End,
}

pub struct CfgNode {
    pub kind: NodeKind,
    /// Loops around it, the innermost last; a head lies in its own loop.
    pub inside: Vec<LoopId>,
    /// Successors and the condition to go there.
    pub to: Vec<(usize, Expr)>,
}

/// The control-flow graph of a method.
pub struct Graph {
    pub nodes: Vec<CfgNode>,
    loops: usize,
    /// Loops around the node that comes next.
    inside: Vec<LoopId>,
}

impl Graph {
    pub fn of(method: &Method) -> Graph {
        let mut graph = Graph { nodes: Vec::new(), loops: 0, inside: Vec::new() };
        let start = graph.node(NodeKind::Pass);
        let last = graph.run(&method.body, Some(start), &mut Vec::new());
        let end = graph.node(NodeKind::End);
        graph.edge(last, end);
        graph
    }

    /// Is there a path from a node to the end of the method?
    pub fn can_return(&self, from: usize) -> bool {
        let mut is_seen = vec![false; self.nodes.len()];
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            if matches!(self.nodes[at].kind, NodeKind::End) {
                return true;
            }
            if !std::mem::replace(&mut is_seen[at], true) {
                stack.extend(self.nodes[at].to.iter().map(|(to, _)| *to));
            }
        }
        false
    }

    fn node(&mut self, kind: NodeKind) -> usize {
        self.nodes.push(CfgNode { kind, inside: self.inside.clone(), to: Vec::new() });
        self.nodes.len() - 1
    }

    fn edge(&mut self, from: Option<usize>, to: usize) {
        self.edge_if(from, to, Expr::Int(1));
    }

    fn edge_if(&mut self, from: Option<usize>, to: usize, condition: Expr) {
        if let Some(from) = from {
            self.nodes[from].to.push((to, condition));
        }
    }

    fn then(&mut self, at: Option<usize>, kind: NodeKind) -> Option<usize> {
        let next = self.node(kind);
        self.edge(at, next);
        at.map(|_| next)
    }

    /// `loops`: heads and exits, the innermost last.
    fn run(
        &mut self,
        code: &[Statement],
        mut at: Option<usize>,
        loops: &mut Vec<(usize, usize)>,
    ) -> Option<usize> {
        for statement in code {
            at?;
            match statement {
                Statement::Access(access) => {
                    if is_sc_access(access) {
                        at = self.then(at, NodeKind::FenceOf(access.clone()));
                    }
                    at = self.then(at, NodeKind::Access(access.clone()));
                }
                Statement::Assign { to, value } => at = self.then(at, NodeKind::Assign(*to, value.clone())),
                Statement::Assume(condition) => {
                    let next = self.node(NodeKind::Pass);
                    self.edge_if(at, next, condition.clone());
                    at = Some(next);
                }
                Statement::If { condition, then, otherwise } => {
                    let (yes, no) = (self.node(NodeKind::Pass), self.node(NodeKind::Pass));
                    self.edge_if(at, yes, condition.clone());
                    self.edge_if(at, no, Expr::Not(Box::new(condition.clone())));
                    let ends = [self.run(then, Some(yes), loops), self.run(otherwise, Some(no), loops)];
                    let join = self.node(NodeKind::Pass);
                    for end in ends {
                        self.edge(end, join);
                    }
                    at = ends.iter().any(Option::is_some).then_some(join);
                }
                Statement::Loop { body, .. } => {
                    let exit = self.node(NodeKind::Pass);
                    let of = LoopId(self.loops);
                    self.loops += 1;
                    self.inside.push(of);
                    let head = self.node(NodeKind::Head(of));
                    self.edge(at, head);
                    loops.push((head, exit));
                    let end = self.run(body, Some(head), loops);
                    self.edge(end, head);
                    loops.pop();
                    self.inside.pop();
                    at = Some(exit);
                }
                Statement::Break(level) => {
                    let (_, exit) = loops[loops.len() - 1 - *level as usize];
                    self.edge(at, exit);
                    at = None;
                }
                Statement::Continue(level) => {
                    let (head, _) = loops[loops.len() - 1 - *level as usize];
                    self.edge(at, head);
                    at = None;
                }
                Statement::Return(_) => {
                    let end = self.node(NodeKind::End);
                    self.edge(at, end);
                    at = None;
                }
            }
        }
        at
    }

    /// Variables that a loop assigns.
    pub fn assigned(&self, of: LoopId) -> Vec<LocalId> {
        let mut found = Vec::new();
        for node in self.nodes.iter().filter(|n| n.inside.contains(&of)) {
            match &node.kind {
                NodeKind::Assign(to, _) => found.push(*to),
                NodeKind::Access(access) => match &access.kind {
                    AccessKind::Load { to, .. }
                    | AccessKind::Wait { to, .. }
                    | AccessKind::Allocate { to, .. } => {
                        found.push(*to);
                    }
                    AccessKind::Rmw { to, .. } => found.extend(*to),
                    AccessKind::Cas { succeeded, found: value, .. } => {
                        found.extend(*succeeded);
                        found.extend(*value);
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn is_sc_access(access: &Access) -> bool {
    match &access.kind {
        AccessKind::Load { order, .. }
        | AccessKind::Wait { order, .. }
        | AccessKind::Store { order, .. }
        | AccessKind::Rmw { order, .. } => *order == Mode::SeqCst,
        AccessKind::Cas { success, failure, .. } => *success == Mode::SeqCst && *failure == Mode::SeqCst,
        _ => false,
    }
}
