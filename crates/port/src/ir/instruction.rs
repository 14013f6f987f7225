//! One statement to one instruction.
//!
//! What touches memory is read exactly, and refused if it makes no sense. Of everything else only the operands matter, so
//! that flags and types this reader has never heard of do no harm. An instruction with an unknown name is kept as
//! [`Op::Unknown`], which may do anything.

use super::Error;
use super::lexer::{Token, Word};
use super::limits::Limits;
use super::module::{Call, Callee, Module, Op, Positions, Terminator, Value};
use super::operands::{Cursor, Operands};
use super::types::{Type, close};
use rustc_hash::FxHashMap;
use seqcst_model::Mode;

/// Where blocks are.
pub type Labels = FxHashMap<String, usize>;

/// Instructions that neither touch memory nor change control flow.
const COMPUTES: &str = " add sub mul udiv sdiv urem srem shl lshr ashr and or xor fneg fadd fsub fmul fdiv frem fcmp \
    insertvalue extractelement insertelement shufflevector landingpad catchpad cleanuppad trunc zext sext fptrunc fpext \
    fptoui fptosi uitofp sitofp ";

/// Instructions whose result has the bits of their operand, or at least says where a pointer comes from.
const COPIES: [&str; 6] = ["bitcast", "inttoptr", "ptrtoint", "ptrtoaddr", "addrspacecast", "freeze"];

/// Reads what stands behind `%result =`.
pub fn read(operands: &mut Operands, at: &mut Cursor, labels: &Labels) -> Result<Op, Error> {
    let place = at.place();
    let Some(Word::Plain(mut name)) = at.next() else {
        return Err(Error::new(place, "an instruction is expected here".to_owned()));
    };
    if matches!(name, "tail" | "musttail" | "notail") {
        let Some(Word::Plain("call")) = at.next() else { return Err(at.error("`call` expected")) };
        name = "call";
    }
    match name {
        "load" => load(operands, at),
        "store" => store(operands, at),
        "atomicrmw" => rmw(operands, at),
        "cmpxchg" => compare_exchange(operands, at),
        "fence" => fence(at),
        "call" => Ok(match call(operands, at)? {
            Some(call) => Op::Call(Box::new(call)),
            None => Op::Compute(Vec::new()),
        }),
        "invoke" | "callbr" => invoke(operands, at, labels, name),
        "alloca" => Ok(Op::Alloca),
        "getelementptr" => {
            while let Some(Word::Plain("inbounds" | "nuw" | "nusw" | "inrange")) = at.peek() {
                at.next();
                if at.peek() == Some(Word::Sign('(')) {
                    at.skip_brackets();
                }
            }
            let address = operands.address(at, 0)?;
            Ok(Op::Gep {
                base: address.base,
                offset: address.offset,
                indices: address.indices,
                of: address.of,
            })
        }
        "phi" => phi(operands, at, labels),
        "select" => {
            flags(at);
            let (_, condition) = operands.typed(at)?;
            at.expect(',')?;
            let (_, yes) = operands.typed(at)?;
            at.expect(',')?;
            let (_, no) = operands.typed(at)?;
            Ok(Op::Select(condition, yes, no))
        }
        "icmp" => {
            at.keyword("samesign");
            let Some(Word::Plain(predicate)) = at.next() else {
                return Err(at.error("a comparison is expected here"));
            };
            let (_, a) = operands.typed(at)?;
            at.expect(',')?;
            Ok(Op::Compare(predicate.to_owned(), a, operands.value(at)?))
        }
        "extractvalue" => {
            let (_, of) = operands.typed(at)?;
            let mut indices = Vec::new();
            while at.take(Word::Sign(',')) {
                match at.next() {
                    Some(Word::Plain(index)) => indices.extend(index.parse::<u32>()),
                    _ => break,
                }
            }
            Ok(Op::Extract(of, indices))
        }
        _ if COPIES.contains(&name) => Ok(Op::Copy(operands.typed(at)?.1)),
        "br" | "switch" | "ret" | "unreachable" | "resume" | "indirectbr" | "catchswitch" | "catchret"
        | "cleanupret" => Ok(Op::Terminator(end(operands, at, labels, name)?)),
        _ if COMPUTES.split_whitespace().any(|known| known == name) => Ok(Op::Compute(scan(operands, at))),
        _ => Ok(Op::Unknown(name.to_owned(), scan(operands, at))),
    }
}

/// All locals and globals in the rest of a statement.
fn scan(operands: &mut Operands, at: &mut Cursor) -> Vec<Value> {
    let mut out = Vec::new();
    while let Some(token) = at.words.get(at.at) {
        at.at += 1;
        match token.word {
            // Types have such names too: a name that is defined as no value is one.
            Word::Local(name) if !operands.module.layout.named.contains_key(name) => {
                out.push(Value::Local(operands.locals.used(name, token.at)));
            }
            Word::Global(name) => {
                let symbol = operands.module.symbol(name);
                out.push(Value::Address(symbol, super::module::Offset::ZERO));
            }
            Word::Plain(number) if number.parse::<i64>().is_ok() => {
                out.extend(number.parse().map(Value::Int));
            }
            _ => {}
        }
    }
    out
}

/// Fast-math flags and the like, in front of a type.
fn flags(at: &mut Cursor) {
    while let Some(Word::Plain(name)) = at.peek() {
        let is_type = super::types::read(&at.words[at.at..]).is_some();
        if is_type || name.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        at.next();
    }
}

/// `syncscope("…")` and an order: whether other threads are meant, and the order.
fn order(at: &mut Cursor) -> Result<(bool, Mode), Error> {
    let mut across = true;
    if at.keyword("syncscope") {
        if let Some(Word::Text(scope)) = at.words.get(at.at + 1).map(|token| token.word) {
            across = scope != "singlethread";
        }
        at.skip_brackets();
    }
    let place = at.place();
    let order = match at.next() {
        // `unordered` is Java's: not torn, and no more. As C11 has nothing weaker, it is taken as relaxed.
        Some(Word::Plain("unordered" | "monotonic")) => Mode::Relaxed,
        Some(Word::Plain("acquire")) => Mode::Acquire,
        Some(Word::Plain("release")) => Mode::Release,
        Some(Word::Plain("acq_rel")) => Mode::AcqRel,
        Some(Word::Plain("seq_cst")) => Mode::SeqCst,
        _ => return Err(Error::new(place, "a memory order is expected here".to_owned())),
    };
    Ok((across, order))
}

fn size(operands: &Operands, of: &Type) -> u64 {
    match of {
        Type::Scalar(bits) => u64::from(*bits).div_ceil(8),
        _ => operands.module.layout.size(of).unwrap_or(0),
    }
}

fn load(operands: &mut Operands, at: &mut Cursor) -> Result<Op, Error> {
    let atomic = at.keyword("atomic");
    let volatile = at.keyword("volatile");
    let of = at.read_type()?;
    at.expect(',')?;
    let (_, pointer) = operands.typed(at)?;
    let order = if atomic { order(at)?.1 } else { Mode::NonAtomic };
    Ok(Op::Load { pointer, size: size(operands, &of), order, volatile })
}

fn store(operands: &mut Operands, at: &mut Cursor) -> Result<Op, Error> {
    let atomic = at.keyword("atomic");
    let volatile = at.keyword("volatile");
    let (of, value) = operands.typed(at)?;
    at.expect(',')?;
    let (_, pointer) = operands.typed(at)?;
    let order = if atomic { order(at)?.1 } else { Mode::NonAtomic };
    Ok(Op::Store { value, pointer, size: size(operands, &of), order, volatile })
}

fn rmw(operands: &mut Operands, at: &mut Cursor) -> Result<Op, Error> {
    at.keyword("volatile");
    let Some(Word::Plain(what)) = at.next() else { return Err(at.error("an operation is expected here")) };
    let (_, pointer) = operands.typed(at)?;
    at.expect(',')?;
    let (of, value) = operands.typed(at)?;
    let (_, order) = order(at)?;
    let neutral = match what {
        "and" => -1,
        _ => 0,
    };
    let idempotent = matches!(what, "add" | "sub" | "or" | "xor" | "and") && value == Value::Int(neutral);
    // ARMv8 has no instructions for these, and LLVM no pair of exclusive accesses.
    let floats = ["fadd", "fsub", "fmax", "fmin", "fmaximum", "fminimum", "fmaximumnum", "fminimumnum"];
    let bounded = ["uinc_wrap", "udec_wrap", "usub_cond", "usub_sat", "nand"];
    let loops = floats.contains(&what) || bounded.contains(&what);
    Ok(Op::Rmw { pointer, value, size: size(operands, &of), order, idempotent, loops })
}

fn compare_exchange(operands: &mut Operands, at: &mut Cursor) -> Result<Op, Error> {
    let weak = at.keyword("weak");
    at.keyword("volatile");
    let (_, pointer) = operands.typed(at)?;
    at.expect(',')?;
    let (of, expected) = operands.typed(at)?;
    at.expect(',')?;
    let (_, new) = operands.typed(at)?;
    let (_, success) = order(at)?;
    let (_, failure) = order(at)?;
    Ok(Op::CompareExchange { pointer, expected, new, size: size(operands, &of), success, failure, weak })
}

fn fence(at: &mut Cursor) -> Result<Op, Error> {
    let (across, order) = order(at)?;
    // A fence against signal handlers keeps compilers from reordering, not machines.
    Ok(if across { Op::Fence(order) } else { Op::Compute(Vec::new()) })
}

fn phi(operands: &mut Operands, at: &mut Cursor, labels: &Labels) -> Result<Op, Error> {
    flags(at);
    at.read_type()?;
    let mut incoming = Vec::new();
    loop {
        at.expect('[')?;
        let value = operands.value(at)?;
        at.expect(',')?;
        let place = at.place();
        let Some(Word::Local(label)) = at.next() else { return Err(at.error("a label is expected here")) };
        incoming.push((value, find(labels, label, place)?));
        at.expect(']')?;
        let more = matches!(at.words.get(at.at + 1).map(|t| t.word), Some(Word::Sign('[')));
        if !(more && at.take(Word::Sign(','))) {
            return Ok(Op::Phi(incoming));
        }
    }
}

fn find(labels: &Labels, name: &str, place: usize) -> Result<usize, Error> {
    labels
        .get(name)
        .copied()
        .ok_or_else(|| Error::new(place, format!("there is no block `%{name}` in this function")))
}

fn target(at: &mut Cursor, labels: &Labels) -> Result<usize, Error> {
    let (name, place) = at.label()?;
    find(labels, name, place)
}

fn end(operands: &mut Operands, at: &mut Cursor, labels: &Labels, name: &str) -> Result<Terminator, Error> {
    match name {
        "br" if at.peek() == Some(Word::Plain("label")) => Ok(Terminator::Jump(target(at, labels)?)),
        "br" => {
            let (_, condition) = operands.typed(at)?;
            at.expect(',')?;
            let yes = target(at, labels)?;
            at.expect(',')?;
            Ok(Terminator::Branch(condition, yes, target(at, labels)?))
        }
        "switch" => {
            let (_, value) = operands.typed(at)?;
            at.expect(',')?;
            let mut to = vec![target(at, labels)?];
            at.expect('[')?;
            while !at.take(Word::Sign(']')) {
                operands.typed(at)?;
                at.expect(',')?;
                to.push(target(at, labels)?);
            }
            Ok(Terminator::Switch(value, to))
        }
        // `ret void ()* %f` gives back the address of a function.
        "ret"
            if at.words.get(at.at + 1).map(|token| token.word) != Some(Word::Sign('('))
                && at.keyword("void") =>
        {
            Ok(Terminator::Return(None))
        }
        "ret" => Ok(Terminator::Return(Some(operands.typed(at)?.1))),
        "unreachable" => Ok(Terminator::Leave),
        "resume" => Ok(Terminator::Resume),
        // `indirectbr`, `catchswitch`, `catchret`, `cleanupret`: all labels they mention.
        _ => {
            let mut to = Vec::new();
            while at.peek().is_some() {
                match at.peek() {
                    Some(Word::Plain("label")) => to.push(target(at, labels)?),
                    _ => drop(at.next()),
                }
            }
            Ok(if to.is_empty() { Terminator::Resume } else { Terminator::Any(to) })
        }
    }
}

fn invoke(operands: &mut Operands, at: &mut Cursor, labels: &Labels, name: &str) -> Result<Op, Error> {
    let call = call(operands, at)?;
    let mut to = Vec::new();
    while at.peek().is_some() {
        match at.peek() {
            Some(Word::Plain("label")) => to.push(target(at, labels)?),
            _ => drop(at.next()),
        }
    }
    let unknown = || Call {
        callee: Callee::Indirect(Value::Int(0)),
        arguments: Vec::new(),
        limits: Limits::default(),
        fresh: false,
        nounwind: false,
        lent: Positions::default(),
        numbers: Positions::default(),
        gives_number: false,
    };
    let call = call.unwrap_or_else(unknown);
    match (name, &to[..]) {
        ("invoke", &[normal, exception]) => {
            Ok(Op::Terminator(Terminator::Invoke(Box::new(call), normal, exception)))
        }
        ("callbr", _) if !to.is_empty() => Ok(Op::Terminator(Terminator::Any(to))),
        _ => Err(at.error("`to label … unwind label …` expected")),
    }
}

/// A call; `None` if it is one that only debuggers care about.
fn call(operands: &mut Operands, at: &mut Cursor) -> Result<Option<Call>, Error> {
    // Flags, calling conventions, attributes of the result: everything up to the type.
    let mut fresh = false;
    loop {
        let rest = at.words.get(at.at..).unwrap_or_default();
        match at.peek() {
            _ if super::types::read(rest).is_some() => break,
            Some(Word::Plain("noalias")) => {
                fresh = true;
                at.at += 1;
            }
            Some(Word::Plain("align")) => at.at += 2,
            Some(Word::Plain(_) | Word::Text(_)) => {
                at.at += 1;
                if at.peek() == Some(Word::Sign('(')) {
                    at.skip_brackets();
                }
            }
            Some(Word::Sign('=')) => at.at += 1,
            _ => return Err(at.error("the type of a call is expected here")),
        }
    }
    let gives_number = matches!(at.read_type()?, Type::Scalar(_));
    let callee = if at.keyword("asm") {
        while let Some(Word::Plain(_)) = at.peek() {
            at.next();
        }
        let Some(Word::Text(text)) = at.next() else { return Err(at.error("assembly is expected here")) };
        at.expect(',')?;
        let Some(Word::Text(constraints)) = at.next() else {
            return Err(at.error("constraints are expected here"));
        };
        Callee::Assembly(text.to_owned(), constraints.to_owned())
    } else {
        match operands.value(at)? {
            Value::Address(symbol, _) => Callee::Direct(symbol),
            value => Callee::Indirect(value),
        }
    };
    let debugger =
        matches!(&callee, Callee::Direct(symbol) if operands.module.name(*symbol).starts_with("llvm.dbg."));
    if at.peek() != Some(Word::Sign('(')) {
        return Err(at.error("arguments are expected here"));
    }
    let Some(end) = close(at.words, at.at) else { return Err(at.error("these brackets are not closed")) };
    if debugger {
        at.at = end;
        return Ok(None);
    }
    at.next();
    let mut arguments = Vec::new();
    let mut lent = Positions::default();
    let mut numbers = Positions::default();
    while !at.take(Word::Sign(')')) {
        let start = at.at;
        let (of, argument) = operands.typed(at)?;
        if keeps_nothing(&at.words[start..at.at]) {
            lent.insert(arguments.len());
        }
        if matches!(of, Type::Scalar(_) | Type::None) {
            numbers.insert(arguments.len());
        }
        arguments.push(argument);
        if !at.take(Word::Sign(',')) && at.peek() != Some(Word::Sign(')')) {
            return Err(at.error("`,` or `)` expected"));
        }
    }
    let rest = &at.words[at.at..];
    let limits = limits(rest, operands.module);
    let nounwind = says(rest, "nounwind", &operands.module.nounwind_groups);
    Ok(Some(Call { callee, arguments, limits, fresh, nounwind, lent, numbers, gives_number }))
}

/// What words behind a call or a declaration say about the memory that may be touched.
pub fn limits(words: &[Token], module: &Module) -> Limits {
    let words = attributes(words);
    let groups = words.iter().filter_map(|token| match token.word {
        Word::Group(number) => module.limits.get(&number.parse().ok()?),
        _ => None,
    });
    groups.fold(Limits::read(words), |all, group| all.and(*group))
}

/// The attributes of a call or a declaration: what stands before operand bundles, labels and bodies.
fn attributes<'w, 'a>(words: &'w [Token<'a>]) -> &'w [Token<'a>] {
    let end = words.iter().position(|token| matches!(token.word, Word::Sign('[' | '{') | Word::Plain("to")));
    &words[..end.unwrap_or(words.len())]
}

/// Whether words behind a call or a declaration have this attribute, or one of these groups.
pub fn says(words: &[Token], attribute: &str, groups: &[u32]) -> bool {
    attributes(words).iter().any(|token| match token.word {
        Word::Plain(name) => name == attribute,
        Word::Group(number) => number.parse().is_ok_and(|number: u32| groups.contains(&number)),
        _ => false,
    })
}

/// Whether the attributes of an argument say that it does not escape: `nocapture`, `captures(none)`, `captures(address)`.
pub fn keeps_nothing(words: &[Token]) -> bool {
    words.iter().enumerate().any(|(i, token)| match token.word {
        Word::Plain("nocapture" | "byval" | "sret") => true,
        Word::Plain("captures") => {
            let inside = words.get(i + 2).map(|token| token.word);
            matches!(inside, Some(Word::Plain("none" | "address" | "address_is_null")))
                && matches!(words.get(i + 3).map(|token| token.word), Some(Word::Sign(')')))
        }
        _ => false,
    })
}
