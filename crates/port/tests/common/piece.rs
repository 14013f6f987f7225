//! Small pieces of LLVM IR, and what the front end sees in them.

use seqcst_port::ir::code::{Code, File};
use seqcst_port::ir::lower::{Options, Ported, lower};
use seqcst_port::ir::read;
use seqcst_port::ir::threads::{Thread, ThreadOrigin};
use seqcst_port::program::{Aliases, Function, NodeKind};

/// All functions that other files can call, as threads.
pub fn look_at(text: &str) -> Ported {
    let module = read(text).unwrap_or_else(|e| panic!("{:?}: {}\n{text}", e.line_column(text), e.message));
    let code = Code::new(vec![File { name: "piece".to_owned(), text: text.to_owned(), module }]);
    let open = |id| code.function(id).is_some_and(|f| !f.internal);
    let thread = |function| Thread { function, origin: ThreadOrigin::Named, starts: None };
    let threads: Vec<Thread> = code.functions().filter(|id| open(*id)).map(thread).collect();
    lower(&code, &threads, Options::default()).expect("no limit")
}

/// What memory sees, in words.
pub fn seen(text: &str) -> Vec<String> {
    let ported = look_at(text);
    ported.program.functions.iter().flat_map(|function| words(&ported, function)).collect()
}

/// What memory sees of one function, in words.
pub fn words(ported: &Ported, function: &Function) -> Vec<String> {
    let words = function.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Nothing | NodeKind::MayFence => None,
        NodeKind::Access(access) => {
            let name = &ported.program.locations[access.location].name;
            Some(format!("{:?} {:?} {name}", access.order, access.kind))
        }
        NodeKind::Fence(order) => Some(format!("{order:?} fence")),
        NodeKind::StoreFence => Some("store fence".to_owned()),
        NodeKind::Opaque { name, .. } => Some(format!("call of {name}")),
    });
    words.collect()
}

/// Whether accesses to these may be to the same memory.
pub fn may_meet(text: &str, a: &str, b: &str) -> bool {
    let ported = look_at(text);
    let places = &ported.program.locations;
    let find = |name: &str| places.iter().position(|place| place.name == name);
    match (find(a), find(b)) {
        (Some(a), Some(b)) => ported.classes.may(a, b) && ported.classes.may(b, a),
        _ => panic!("{a}, {b}: {:?}", seen(text)),
    }
}
