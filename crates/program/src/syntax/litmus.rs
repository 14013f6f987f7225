//! The C litmus format of herd: header, initial values, threads as C functions, final condition.
//!
//! The threads' C is turned into the syntax tree of TPL while it is read (`c_stmt`, `c_expr`): accesses inside
//! expressions go to registers of their own, `*x` becomes an access, `fetch_sub` an addition. The final condition is
//! kept as text: robustness does not ask for it.

use super::MAX_NODES;
use super::cursor::{Cursor, Parse};
use super::lexer::{BYTE_ORDER_MARK, Lexer, Tok, abbreviate};
use super::tpl;
use crate::ast::{At, Block, Expr, ExprKind, Location, Name, Program, Span, StmtKind, Thread};
use crate::check::MAX_VALUE;
use crate::code::Unary;
use crate::error::InputError;
use rustc_hash::{FxHashMap, FxHashSet};

/// A litmus test.
pub(crate) struct Litmus {
    pub program: Program,
    pub name: String,
    pub condition: Option<String>,
}

/// Whether a text that no file name explains is a litmus test: its first word is `C`, which starts no TPL program.
pub(crate) fn looks_like(source: &str) -> bool {
    skip_comments(source).strip_prefix('C').is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// Parses a litmus test. Locations, registers and labels are checked later, with those of TPL.
pub(crate) fn parse(source: &str) -> Parse<Litmus> {
    let (name, body) = header(source)?;
    let mut parser = Parser {
        // C grows when it is turned into simpler statements: the limit keeps the result within that of TPL.
        cursor: Cursor::new(source, body, MAX_NODES / 4)?,
        taken: identifiers(source, body),
        renamed: FxHashMap::default(),
        fresh: 0,
        locations: Vec::new(),
        index: FxHashMap::default(),
        initial_registers: Vec::new(),
        largest: None,
        types: Types::default(),
        thread: ThreadState::default(),
    };
    parser.initial_block()?;
    let mut threads = Vec::new();
    while !parser.at_condition() {
        threads.push(parser.thread_function(threads.len())?);
    }
    let condition = source[parser.cursor.token().span.start..].trim();
    let condition = (!condition.is_empty()).then(|| condition.to_string());
    let end = parser.cursor.token().span;
    if threads.is_empty() {
        let error = InputError::new(end, "there is no thread in this litmus test");
        return Err(error.with_note("write at least one thread: `P0(atomic_int* x) { … }`"));
    }
    let program = parser.finish(threads)?;
    Ok(Litmus { program, name, condition })
}

/// Reads up to the `{` of the initial block: the test's name, and where that `{` is. Lines in between are comments.
fn header(source: &str) -> Parse<(String, usize)> {
    let mut position = source.len() - skip_comments(source).len();
    let first_line = source[position..].lines().next().unwrap_or("");
    let (architecture, name) = first_line.split_once(char::is_whitespace).unwrap_or((first_line, ""));
    let span = Span::new(position, position + architecture.len());
    match architecture {
        "C" => {}
        "" => {
            return Err(InputError::new(
                span,
                "this file is empty: expected `C` and the name of a litmus test",
            ));
        }
        other => {
            let other = other.chars().take(40).collect::<String>();
            let error = InputError::new(
                span,
                format!("expected a litmus test that starts with `C`, found `{other}`"),
            );
            return Err(error.with_note("only litmus tests in C are read, not those in assembly"));
        }
    }
    let name = name.trim().to_string();
    position += first_line.len();
    loop {
        let rest = &source[position..];
        let trimmed = skip_comments(rest);
        position += rest.len() - trimmed.len();
        match trimmed.chars().next() {
            Some('{') => return Ok((name, position)),
            Some('"') => {
                position += 1 + trimmed[1..].find('"').map_or(trimmed.len() - 1, |length| length + 1)
            }
            Some(c) => position += c.len_utf8(),
            None => {
                let end = Span::new(source.len(), source.len());
                return Err(InputError::new(
                    end,
                    "expected `{` and the initial values, found the end of the file",
                ));
            }
        }
    }
}

/// Skips white space and comments of either style, C's and herd's `(* … *)`.
fn skip_comments(text: &str) -> &str {
    let mut text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    loop {
        text = text.trim_start();
        let after = |opening: &str, closing: &str| {
            let rest = text.strip_prefix(opening)?;
            Some(rest.find(closing).map_or("", |length| &rest[length + closing.len()..]))
        };
        match after("(*", "*)").or_else(|| after("/*", "*/")).or_else(|| after("//", "\n")) {
            Some(rest) => text = rest,
            None => return text,
        }
    }
}

/// Every identifier of the source, so that new names can avoid them.
fn identifiers(source: &str, position: usize) -> FxHashSet<&str> {
    let mut lexer = Lexer::new(source, position);
    let mut found = FxHashSet::default();
    // The final condition has characters that are no tokens; no program text comes after it.
    while let Ok(token) = lexer.next_token() {
        match token.tok {
            Tok::End => break,
            Tok::Ident => found.insert(&source[token.span.range()]),
            _ => false,
        };
    }
    found
}

/// What is known of a location; whether it is atomic only once a thread has it as a parameter.
struct SharedLocation {
    name: Name,
    atomic: Option<(bool, Span)>,
    /// Stores make 1 of everything but 0.
    is_bool: bool,
    initial: Option<At<i64>>,
}

/// What belongs to the thread that is being read.
#[derive(Default)]
pub(super) struct ThreadState<'s> {
    /// Pointers to locations, and whether they are atomic.
    pub parameters: FxHashMap<&'s str, bool>,
    pub locals: Vec<Name>,
    pub declared: FxHashSet<&'s str>,
    /// Those whose type is `bool`.
    pub bools: FxHashSet<String>,
    /// Registers that the initial block names; a thread may use them without declaring them.
    pub initial: FxHashSet<String>,
    /// The variables that each open block declares, for scoping.
    pub scopes: Vec<Vec<&'s str>>,
    pub visible: FxHashMap<&'s str, Span>,
    /// Where statements go at the moment.
    pub out: Block,
}

pub(super) struct Parser<'s> {
    pub cursor: Cursor<'s>,
    taken: FxHashSet<&'s str>,
    renamed: FxHashMap<&'s str, String>,
    fresh: usize,
    locations: Vec<SharedLocation>,
    index: FxHashMap<&'s str, usize>,
    initial_registers: Vec<(At<u32>, Name, At<i64>)>,
    largest: Option<At<u32>>,
    types: Types,
    pub thread: ThreadState<'s>,
}

impl<'s> Parser<'s> {
    /// `{ x = 0; int y = 1; [z] = 2; 0:r0 = 3; }`
    fn initial_block(&mut self) -> Parse<()> {
        let open = self.cursor.expect("{", "before the initial values")?;
        while !self.cursor.eat("}")? {
            if self.cursor.eat(";")? {
                continue;
            }
            if self.cursor.at_end() {
                let error = self.cursor.unexpected("an initial value or `}`");
                return Err(error.with_secondary(open, "this block is still open"));
            }
            self.cursor.count_node()?;
            if matches!(self.cursor.token().tok, Tok::Number(_)) {
                let thread = self.cursor.number("the number of a thread")?;
                self.cursor.expect(":", "after the number of a thread")?;
                let register = self.name("a register")?;
                self.cursor.expect("=", "after the register")?;
                let value = self.initial_value()?;
                self.initial_registers.push((thread, register, value));
            } else {
                self.initial_location()?;
            }
            if !self.cursor.at("}") {
                self.cursor.semicolon("this initial value")?;
            }
        }
        Ok(())
    }

    fn initial_location(&mut self) -> Parse<()> {
        self.skip_type()?;
        let bracket = self.cursor.eat("[")?;
        let index = self.location("a location")?;
        if bracket {
            self.cursor.expect("]", "after the location")?;
        }
        if self.cursor.eat("=")? {
            let value = self.initial_value()?;
            let location = &mut self.locations[index];
            if let Some(earlier) = &location.initial {
                let message = format!("`{}` has two initial values", location.name.node);
                return Err(
                    InputError::new(value.span, message).with_secondary(earlier.span, "the first one")
                );
            }
            location.initial = Some(value);
        }
        Ok(())
    }

    fn initial_value(&mut self) -> Parse<At<i64>> {
        let value = self.cursor.signed_number("a number")?;
        let size = u32::try_from(value.node.unsigned_abs()).expect("numbers have 32 bits");
        self.note_number(size, value.span);
        Ok(value)
    }

    /// Remembers the largest number of the test: it decides on the range of values.
    pub fn note_number(&mut self, value: u32, span: Span) {
        if self.largest.as_ref().is_none_or(|largest| value > largest.node) {
            self.largest = Some(At::new(value, span));
        }
    }

    /// Skips words like `volatile unsigned int`; which type that was, if there was one.
    pub fn skip_type(&mut self) -> Parse<Option<Type>> {
        let mut found: Option<Type> = None;
        loop {
            let word = self.cursor.word();
            let is_atomic = matches!(
                word,
                "atomic_int"
                    | "atomic_uint"
                    | "atomic_long"
                    | "atomic_ulong"
                    | "atomic_bool"
                    | "_Atomic"
                    | "mtx_t"
            );
            if !is_atomic && !is_plain_type(word) {
                return Ok(found);
            }
            let found = found.get_or_insert_default();
            found.is_atomic |= is_atomic;
            found.is_bool |= matches!(word, "bool" | "_Bool" | "atomic_bool");
            self.types.note(word, self.cursor.token().span);
            self.cursor.advance()?;
        }
    }

    /// An identifier, spelled so that TPL can print it.
    pub fn name(&mut self, what: &str) -> Parse<Name> {
        let word = self.cursor.word();
        let name = self.cursor.name(what, is_reserved)?;
        Ok(At::new(self.spell(word), name.span))
    }

    /// A word of C as a name of TPL: the reserved words of TPL get underscores.
    pub fn spell(&mut self, word: &'s str) -> String {
        if !tpl::is_reserved(word) {
            return word.to_string();
        }
        let taken = &self.taken;
        let spelling = self.renamed.entry(word).or_insert_with(|| {
            let mut spelling = format!("{word}_");
            while taken.contains(spelling.as_str()) {
                spelling.push('_');
            }
            spelling
        });
        spelling.clone()
    }

    /// A name that nothing in the source has and no other call gives within this thread.
    pub fn fresh_name(&mut self, prefix: &str) -> String {
        loop {
            let name = format!("{prefix}{}", self.fresh);
            self.fresh += 1;
            if !self.taken.contains(name.as_str()) {
                return name;
            }
        }
    }

    fn location(&mut self, what: &str) -> Parse<usize> {
        let word = self.cursor.word();
        let name = self.name(what)?;
        let next = self.locations.len();
        let index = *self.index.entry(word).or_insert(next);
        if index == next {
            self.locations.push(SharedLocation { name, atomic: None, is_bool: false, initial: None });
        }
        Ok(index)
    }

    fn at_condition(&self) -> bool {
        let word = self.cursor.word();
        self.cursor.at_end()
            || self.cursor.at("~")
            || matches!(word, "exists" | "forall" | "locations" | "filter" | "final" | "observed" | "regions")
    }

    /// `P0(atomic_int* x, int* d) { … }`
    fn thread_function(&mut self, index: usize) -> Parse<Thread> {
        self.thread = ThreadState::default();
        self.fresh = 0;
        self.initial_registers(index);
        while matches!(self.cursor.word(), "static" | "void") {
            self.cursor.advance()?;
        }
        let name = self.name("a thread or the final condition")?;
        self.cursor.expect("(", "before the parameters of the thread")?;
        self.cursor.eat_word("void")?;
        while !self.cursor.at(")") {
            self.parameter()?;
            if !self.cursor.eat(",")? {
                break;
            }
        }
        self.cursor.expect(")", "after the parameters of the thread")?;
        let open = self.cursor.expect("{", "before the body of the thread")?;
        self.block(open, 0)?;
        let thread = std::mem::take(&mut self.thread);
        Ok(Thread { name, count: None, locals: thread.locals, body: thread.out })
    }

    /// Declares the registers that the initial block gives a value to, and assigns it.
    fn initial_registers(&mut self, index: usize) {
        let registers = std::mem::take(&mut self.initial_registers);
        for (_, register, value) in registers.iter().filter(|(thread, ..)| thread.node as usize == index) {
            if self.thread.initial.insert(register.node.clone()) {
                self.thread.locals.push(register.clone());
            }
            let size =
                number(u32::try_from(value.node.unsigned_abs()).expect("numbers have 32 bits"), value.span);
            let value = match value.node < 0 {
                true => At::new(ExprKind::Unary(Unary::Neg, Box::new(size)), value.span),
                false => size,
            };
            let span = register.span.to(value.span);
            self.emit(StmtKind::Assign(register.clone(), value), span);
        }
        self.initial_registers = registers;
    }

    fn parameter(&mut self) -> Parse<()> {
        self.cursor.count_node()?;
        let start = self.cursor.token().span;
        let Some(Type { is_atomic: atomic, is_bool }) = self.skip_type()? else {
            return Err(self.cursor.unexpected("a parameter such as `atomic_int* x`"));
        };
        self.cursor.expect("*", "after the type: threads take pointers to locations")?;
        self.skip_type()?;
        let word = self.cursor.word();
        let index = self.location("the name of a location")?;
        let span = self.cursor.since(start);
        self.locations[index].is_bool |= is_bool;
        if self.thread.parameters.insert(word, atomic).is_some() {
            return Err(InputError::new(
                span,
                format!("the parameter `{}` is declared twice", abbreviate(word)),
            ));
        }
        match self.locations[index].atomic.get_or_insert((atomic, span)) {
            (earlier, _) if *earlier == atomic => Ok(()),
            (_, earlier) => {
                let message = format!("`{}` is atomic in one thread and plain in another", abbreviate(word));
                Err(InputError::new(span, message).with_secondary(*earlier, "declared differently here"))
            }
        }
    }

    /// Whether stores to a location make 1 of everything but 0.
    pub fn is_bool(&self, location: &Name) -> bool {
        self.locations.iter().any(|other| other.is_bool && other.name.node == location.node)
    }

    /// Puts everything together once the range of values is known: room for the largest number, and for its opposite.
    fn finish(mut self, threads: Vec<Thread>) -> Parse<Program> {
        let (largest, span) = match self.largest.take() {
            Some(largest) => (largest.node, largest.span),
            None => (0, Span::new(0, 0)),
        };
        let max = (largest + 1).next_power_of_two().max(Self::SMALLEST_RANGE) - 1;
        let most = if self.types.unsigned { MAX_VALUE } else { MAX_VALUE / 2 };
        if largest > most {
            let message = format!("the number {largest} is too large: values go up to {most}");
            return Err(InputError::new(span, message));
        }
        if let Some((limit, name)) = self.types.narrow.filter(|(limit, _)| largest > *limit) {
            let message =
                format!("the number {largest} is too large beside the type of 8 or 16 bits elsewhere");
            let error =
                InputError::new(span, message).with_secondary(name, format!("values go up to {limit} here"));
            return Err(error.with_note("all variables have one range of values: use `int`"));
        }
        let max = self.types.narrow.map_or(max, |(limit, _)| max.min(limit));
        let min = if self.types.unsigned { 0 } else { -i64::from(max) - 1 };
        let mut program = Program {
            min_value: Some(At::new(min, span)),
            max_value: Some(At::new(max, span)),
            ..Program::default()
        };
        for (thread, ..) in &self.initial_registers {
            if thread.node as usize >= threads.len() {
                return Err(InputError::new(thread.span, format!("there is no thread {}", thread.node)));
            }
        }
        program.locations = self
            .locations
            .into_iter()
            .map(|location| Location {
                name: location.name,
                initial: location.initial.map(|initial| match location.is_bool {
                    true => At::new(i64::from(initial.node != 0), initial.span),
                    false => initial,
                }),
                non_atomic: matches!(location.atomic, Some((false, _))),
            })
            .collect();
        program.threads = threads;
        Ok(program)
    }

    /// How many values that are not negative there are at least.
    const SMALLEST_RANGE: u32 = 128;
}

pub(super) fn number(value: u32, span: Span) -> Expr {
    At::new(ExprKind::Number(value), span)
}

/// What is said of a variable or location.
#[derive(Clone, Copy, Default)]
pub(super) struct Type {
    pub is_atomic: bool,
    pub is_bool: bool,
}

/// What the types of a test allow its values to be. There is one range for all of them, within which conversions between
/// them change nothing: what leaves it is noticed when it happens.
#[derive(Default)]
struct Types {
    /// A type without negative numbers occurs.
    unsigned: bool,
    /// The largest value of the narrowest type, and where that occurs.
    narrow: Option<(u32, Span)>,
}

impl Types {
    fn note(&mut self, word: &str, span: Span) {
        self.unsigned |= word == "unsigned"
            || word.starts_with("uint")
            || matches!(word, "size_t" | "atomic_uint" | "atomic_ulong");
        let limit = match word {
            "char" | "int8_t" => 127,
            "uint8_t" => 255,
            "short" | "int16_t" => 32_767,
            _ => return,
        };
        if self.narrow.is_none_or(|(other, _)| limit < other) {
            self.narrow = Some((limit, span));
        }
    }
}

fn is_plain_type(word: &str) -> bool {
    let qualifiers = ["const", "volatile", "signed", "unsigned", "restrict"];
    let types =
        ["int", "char", "short", "long", "bool", "_Bool", "size_t", "intptr_t", "uintptr_t", "__int128"];
    let sized = ["int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"];
    qualifiers.contains(&word) || types.contains(&word) || sized.contains(&word)
}

/// Words of C that cannot be names.
fn is_reserved(word: &str) -> bool {
    let keywords =
        ["if", "else", "while", "do", "for", "goto", "return", "break", "continue", "switch", "void"];
    keywords.contains(&word) || is_plain_type(word) || word.starts_with("atomic_") || word == "_Atomic"
}
