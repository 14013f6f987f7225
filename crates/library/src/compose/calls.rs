//! Calls in a client: of libraries, fences, atomic accesses, threads, and functions of its own.

use super::graph::{Builder, Fixable, NodeId, Owner, Step};
use super::interface::Interface;
use crate::c::Error;
use lang_c::ast::{CallExpression, Constant, Expression, UnaryOperator};
use lang_c::span::Node;

/// Functions that threads wait in for one another.
const WAITING: [&str; 8] = [
    "pthread_mutex_",
    "pthread_rwlock_",
    "pthread_spin_",
    "pthread_cond_",
    "pthread_barrier_",
    "sem_",
    "mtx_",
    "cnd_",
];

/// Those that only make or unmake what the others are about.
const HARMLESS: [&str; 4] = ["_init", "_destroy", "attr_", "_close"];

impl Builder<'_> {
    /// Adds the nodes of a call: of a library, of the client, of a known function, or of one that is unknown.
    pub fn call(&mut self, call: &CallExpression, at: usize, from: NodeId) -> Result<NodeId, Error> {
        let Expression::Identifier(callee) = &call.callee.node else {
            let arguments: Vec<&Node<Expression>> = call.arguments.iter().chain([&*call.callee]).collect();
            let end = self.arguments(&arguments, from)?;
            return Ok(self.emit(Step::EnterAny, at, end));
        };
        let name = callee.node.name.as_str();
        let front = self.front;
        let arguments: Vec<&Node<Expression>> = call.arguments.iter().collect();
        // The function of a new thread is not called here, and its address is known to go nowhere else.
        let start = match name {
            "pthread_create" => Some(2),
            "thrd_create" => Some(1),
            _ => None,
        };
        if let Some(number) = start {
            let rest: Vec<&Node<Expression>> =
                arguments.iter().enumerate().filter(|(n, _)| *n != number).map(|(_, it)| *it).collect();
            let end = self.arguments(&rest, from)?;
            let thread = arguments.get(number).and_then(|argument| self.function_name(&argument.node));
            let step = match thread {
                Some(function) => Step::Start(function),
                None => {
                    if let Some(argument) = arguments.get(number) {
                        self.expression(argument, end)?;
                    }
                    Step::StartAny
                }
            };
            return Ok(self.emit(step, at, end));
        }
        let end = self.arguments(&arguments, from)?;
        let fix = match front {
            // An argument that matters stands between a fence in front and the call.
            _ if end != from => Fixable::Not,
            Some(statement) => Fixable::Statement(self.source.site(statement)),
            None => Fixable::Expression,
        };
        if let Some(&(library, method)) = self.methods.get(name) {
            if method.is_setup {
                return Ok(end);
            }
            let object = method.object.as_ref().map(|(number, _)| arguments.get(*number).map(|it| &it.node));
            let owner = match object {
                None => Owner { name: library.name.clone(), is_one: true },
                Some(_) if self.single.contains(&library.name) => {
                    Owner { name: library.name.clone(), is_one: true }
                }
                Some(object) => self.owner(&format!("of {}", library.name), object),
            };
            return Ok(self.record(name, owner, fix, at, end));
        }
        if let Some(order) = fence_order(name) {
            let is_sc =
                order.is_none_or(|number| arguments.get(number).is_some_and(|it| is_seq_cst(&it.node)));
            if is_sc {
                self.client.fences += 1;
                return Ok(self.emit(Step::Fence, at, end));
            }
            return Ok(end);
        }
        if let Some(orders) = atomic_orders(name) {
            let orders = orders.map(|first| arguments.get(first..).unwrap_or_default());
            let is_sc = orders
                .is_none_or(|orders| !orders.is_empty() && orders.iter().all(|it| is_seq_cst(&it.node)));
            let object = arguments.first().map(|it| &it.node);
            let owner = match object.and_then(address_of) {
                Some(name) => client_variable(name, !self.names.to_atomics.contains(name)),
                None => client_variable("", false),
            };
            let end = if is_sc { self.emit(Step::Fence, at, end) } else { end };
            return Ok(self.record(name, owner, fix, at, end));
        }
        if WAITING.iter().any(|family| name.starts_with(family))
            && !HARMLESS.iter().any(|part| name.contains(part))
        {
            let owner = match name {
                // Two objects at once.
                "pthread_cond_wait" | "pthread_cond_timedwait" | "cnd_wait" | "cnd_timedwait" => {
                    self.owner("of the client", None)
                }
                _ => self.owner("of the client", arguments.first().map(|it| &it.node)),
            };
            return Ok(self.record(name, owner, fix, at, end));
        }
        Ok(match name {
            "pthread_join" | "thrd_join" => self.emit(Step::Join, at, end),
            "pthread_exit" | "thrd_exit" => {
                let last = self.emit(Step::Nothing, at, end);
                self.client.ends.push(last);
                self.node(Step::Nothing, None)
            }
            "exit" | "_Exit" | "quick_exit" | "abort" => self.node(Step::Nothing, None),
            _ => match self.by_name.get(name) {
                Some(&function) => self.emit(Step::Enter(function), at, end),
                None if self.is_variable(name) => self.emit(Step::EnterAny, at, end),
                None => {
                    self.foreign(name);
                    let given =
                        arguments.iter().filter_map(|it| self.function_name(&it.node)).next().is_some();
                    // It may call what it is given, or start a thread with it.
                    let end = if given { self.emit(Step::StartAny, at, end) } else { end };
                    let end = if given { self.emit(Step::EnterAny, at, end) } else { end };
                    match name {
                        "pthread_once" | "call_once" => {
                            let owner = self.owner("of the client", arguments.first().map(|it| &it.node));
                            self.record(name, owner, Fixable::Not, at, end)
                        }
                        _ => end,
                    }
                }
            },
        })
    }

    fn arguments(&mut self, arguments: &[&Node<Expression>], from: NodeId) -> Result<NodeId, Error> {
        self.unordered(arguments, from, &mut |builder, part, from| builder.expression(part, from))
    }

    /// A function that is in no file.
    fn foreign(&mut self, name: &str) {
        if name != "assert" && !name.starts_with("atomic_") && !name.starts_with("__builtin_") {
            self.foreign.insert(name.to_owned());
        }
    }

    /// Is it a pointer to a function?
    fn is_variable(&self, name: &str) -> bool {
        self.names.values.contains(name)
    }

    /// The function of the client that an argument names.
    fn function_name(&self, expression: &Expression) -> Option<usize> {
        match expression {
            Expression::Identifier(name) => self.by_name.get(&name.node.name).copied(),
            Expression::Cast(it) => self.function_name(&it.node.expression.node),
            Expression::UnaryOperator(it) if it.node.operator.node == UnaryOperator::Address => {
                self.function_name(&it.node.operand.node)
            }
            _ => None,
        }
    }

    /// The object that an argument points to.
    fn owner(&self, of: &str, argument: Option<&Expression>) -> Owner {
        let global = argument.and_then(address_of).filter(|name| {
            let known = self.names.variables.get(*name);
            known
                .is_some_and(|all| matches!(&all[..], [it] if it.is_global && !it.is_pointer && !it.is_array))
        });
        match global {
            Some(name) => Owner { name: format!("`{name}` {of}"), is_one: true },
            None => Owner { name: format!("an object {of}"), is_one: false },
        }
    }

    /// Libraries of which the client has one object, wherever pointers lead.
    pub fn find_single(&mut self, libraries: &[Interface]) {
        for library in libraries {
            let types: Vec<&str> = library
                .methods
                .iter()
                .filter_map(|it| it.object.as_ref())
                .map(|(_, name)| name.as_str())
                .collect();
            let Some(first) = types.first() else { continue };
            let all = self.names.variables.values().flatten();
            let objects: Vec<_> = all.filter(|it| it.type_name == *first && !it.is_pointer).collect();
            let one = matches!(&objects[..], [it] if it.is_global && !it.is_array);
            let allocated = self.names.sized.contains(*first);
            if types.iter().all(|name| name == first) && one && !allocated {
                self.single.push(library.name.clone());
            }
        }
    }
}

/// The owner of an atomic variable; without a name, it may be any.
pub fn client_variable(name: &str, is_one: bool) -> Owner {
    match name {
        "" => Owner { name: "an atomic variable of the client".to_owned(), is_one },
        _ => Owner { name: format!("`{name}` of the client"), is_one },
    }
}

/// `x` of `&x`.
fn address_of(expression: &Expression) -> Option<&str> {
    match expression {
        Expression::UnaryOperator(it) if it.node.operator.node == UnaryOperator::Address => {
            match &it.node.operand.node {
                Expression::Identifier(name) => Some(&name.node.name),
                _ => None,
            }
        }
        Expression::Cast(it) => address_of(&it.node.expression.node),
        _ => None,
    }
}

/// Fences: which argument is the order, if there is one.
fn fence_order(name: &str) -> Option<Option<usize>> {
    match name {
        "atomic_thread_fence" | "__atomic_thread_fence" => Some(Some(0)),
        "__sync_synchronize" => Some(None),
        _ => None,
    }
}

/// Atomic accesses: at which argument orders begin, if there are any.
fn atomic_orders(name: &str) -> Option<Option<usize>> {
    let harmless = [
        "atomic_init",
        "atomic_signal_fence",
        "atomic_is_lock_free",
        "__atomic_signal_fence",
        "kill_dependency",
    ];
    if harmless.contains(&name) || name.ends_with("_lock_free") {
        return None;
    }
    if name.starts_with("__sync_") {
        return Some(None);
    }
    let (stem, is_explicit) = match name.strip_prefix("__atomic_") {
        Some(stem) => (stem.trim_end_matches("_n"), true),
        None => {
            let stem = name.strip_prefix("atomic_")?;
            (stem.trim_end_matches("_explicit"), stem.ends_with("_explicit"))
        }
    };
    let is_builtin = name.starts_with("__atomic_");
    let first = match stem {
        "load" if is_builtin && !name.ends_with("_n") => 2,
        "load" | "flag_test_and_set" | "flag_clear" | "test_and_set" | "clear" => 1,
        "store" => 2,
        "exchange" if is_builtin && !name.ends_with("_n") => 3,
        "exchange" => 2,
        "compare_exchange" => 4,
        "compare_exchange_strong" | "compare_exchange_weak" => 3,
        _ if stem.starts_with("fetch_") || stem.ends_with("_fetch") => 2,
        _ => return None,
    };
    Some(is_explicit.then_some(first))
}

fn is_seq_cst(order: &Expression) -> bool {
    match order {
        Expression::Identifier(name) => {
            matches!(name.node.name.as_str(), "memory_order_seq_cst" | "__ATOMIC_SEQ_CST")
        }
        Expression::Constant(constant) => {
            matches!(&constant.node, Constant::Integer(it) if &*it.number == "5")
        }
        Expression::Cast(it) => is_seq_cst(&it.node.expression.node),
        _ => false,
    }
}
