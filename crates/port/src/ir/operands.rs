//! Operands: types with values behind them, constant expressions, addresses of fields.

use super::Error;
use super::lexer::{Token, Word};
use super::module::{Local, Module, Offset, Symbol, Value};
use super::types::{self, Type, close};
use rustc_hash::FxHashMap;

/// The words of one statement, and a place among them.
pub struct Cursor<'a, 'b> {
    /// The words.
    pub words: &'b [Token<'a>],
    /// The next one.
    pub at: usize,
    /// Where the statement ends in the text.
    pub end: usize,
}

/// Names of locals in one function.
#[derive(Default)]
pub struct Locals {
    /// Their numbers.
    pub numbers: FxHashMap<String, Local>,
    /// Their names.
    pub names: Vec<String>,
    /// Where each was used first, unless it has been defined.
    pub used: Vec<Option<usize>>,
}

impl Locals {
    /// The number of a local that is used at `at`.
    pub fn used(&mut self, name: &str, at: usize) -> Local {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as Local;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        self.used.push(Some(at));
        number
    }

    /// The number of a local that is defined; `None` if it is for the second time.
    pub fn defined(&mut self, name: &str, at: usize) -> Option<Local> {
        let known = self.numbers.contains_key(name);
        let number = self.used(name, at);
        let used = self.used.get_mut(number as usize)?;
        if known && used.is_none() {
            return None;
        }
        *used = None;
        Some(number)
    }
}

impl<'a> Cursor<'a, '_> {
    /// The next word.
    pub fn peek(&self) -> Option<Word<'a>> {
        self.words.get(self.at).map(|token| token.word)
    }

    /// Where the next word begins, or where the statement ends.
    pub fn place(&self) -> usize {
        self.words.get(self.at).map_or(self.end, |token| token.at)
    }

    /// The next word, which is behind us then.
    pub fn next(&mut self) -> Option<Word<'a>> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    /// Whether the next word is this one, which is behind us then.
    pub fn take(&mut self, word: Word) -> bool {
        let yes = self.peek() == Some(word);
        self.at += usize::from(yes);
        yes
    }

    /// Whether the next word is this keyword.
    pub fn keyword(&mut self, name: &str) -> bool {
        self.take(Word::Plain(name))
    }

    /// Behind the closing bracket, if a bracket opens here.
    pub fn skip_brackets(&mut self) {
        if matches!(self.peek(), Some(Word::Sign('(' | '[' | '{'))) {
            self.at = close(self.words, self.at).unwrap_or(self.words.len());
        }
    }

    /// What is wrong here.
    pub fn error(&self, message: impl Into<String>) -> Error {
        let message = message.into();
        match self.at < self.words.len() {
            true => Error::new(self.place(), message),
            false => Error::new(self.end, format!("{message}; the line ends here")),
        }
    }

    /// This sign must come now.
    pub fn expect(&mut self, sign: char) -> Result<(), Error> {
        match self.take(Word::Sign(sign)) {
            true => Ok(()),
            false => Err(self.error(format!("`{sign}` expected"))),
        }
    }

    /// A type.
    pub fn read_type(&mut self) -> Result<Type, Error> {
        let rest = self.words.get(self.at..).unwrap_or_default();
        let (read, length) = types::read(rest).ok_or_else(|| self.error("a type is expected here"))?;
        self.at += length;
        Ok(read)
    }

    /// `label %name`: the name, and where it stands.
    pub fn label(&mut self) -> Result<(&'a str, usize), Error> {
        let at = self.place();
        match (self.keyword("label"), self.next()) {
            (true, Some(Word::Local(name))) => Ok((name, at)),
            _ => Err(Error::new(at, "a label is expected here".to_owned())),
        }
    }
}

/// Everything that operands need to be read.
pub struct Operands<'m> {
    /// Symbols and types.
    pub module: &'m mut Module,
    /// Names of locals.
    pub locals: &'m mut Locals,
}

/// Nested constant expressions: a bound against nonsense.
const DEPTH: u32 = 100;

/// Constant expressions that keep the bits.
const COPIES: [&str; 4] = ["bitcast", "inttoptr", "ptrtoint", "addrspacecast"];

impl Operands<'_> {
    /// A type and a value behind it.
    pub fn typed(&mut self, at: &mut Cursor) -> Result<(Type, Value), Error> {
        self.typed_nested(at, 0)
    }

    fn typed_nested(&mut self, at: &mut Cursor, depth: u32) -> Result<(Type, Value), Error> {
        let read = at.read_type()?;
        if read == Type::None && matches!(at.peek(), Some(Word::Metadata(_))) {
            at.next();
            at.skip_brackets();
            return Ok((read, Value::Constant(Vec::new())));
        }
        skip_attributes(at);
        Ok((read, self.value_nested(at, depth)?))
    }

    /// A value.
    pub fn value(&mut self, at: &mut Cursor) -> Result<Value, Error> {
        self.value_nested(at, 0)
    }

    fn value_nested(&mut self, at: &mut Cursor, depth: u32) -> Result<Value, Error> {
        let place = at.place();
        let Some(word) = at.next() else { return Err(at.error("a value is expected here")) };
        if depth > DEPTH {
            return Err(Error::new(place, "this expression is nested too deep".to_owned()));
        }
        match word {
            Word::Local(name) => Ok(Value::Local(self.locals.used(name, place))),
            Word::Global(name) => Ok(Value::Address(self.module.symbol(name), Offset::ZERO)),
            Word::Plain("true") => Ok(Value::Int(1)),
            Word::Plain("false" | "null" | "zeroinitializer") => Ok(Value::Int(0)),
            Word::Plain("getelementptr") => {
                while !matches!(at.peek(), Some(Word::Sign('(')) | None) {
                    at.next();
                    // `inrange(-8, 16)`
                    if matches!(at.words.get(at.at - 1).map(|t| t.word), Some(Word::Plain("inrange"))) {
                        at.skip_brackets();
                    }
                }
                at.expect('(')?;
                let address = self.address(at, depth + 1)?;
                at.expect(')')?;
                Ok(match address.base {
                    Value::Address(symbol, offset) => Value::Address(symbol, offset.plus(address.offset)),
                    Value::Int(number) if address.offset.every == 0 => {
                        Value::Int(number.wrapping_add(address.offset.at))
                    }
                    other => other,
                })
            }
            Word::Plain(name) if COPIES.contains(&name) => {
                at.expect('(')?;
                let (_, value) = self.typed_nested(at, depth + 1)?;
                while !matches!(at.peek(), Some(Word::Sign(')')) | None) {
                    at.read_type()
                        .or_else(|_| at.next().map(|_| Type::None).ok_or_else(|| at.error("`)`")))?;
                }
                at.expect(')')?;
                Ok(value)
            }
            Word::Plain(number) if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                Ok(number.parse().map_or(Value::Constant(Vec::new()), Value::Int))
            }
            Word::Sign('<') => {
                // A vector, or a packed structure.
                let mut depth = 1;
                let start = at.at;
                while depth > 0 {
                    match at.next() {
                        Some(Word::Sign('<')) => depth += 1,
                        Some(Word::Sign('>')) => depth -= 1,
                        Some(_) => {}
                        None => return Err(at.error("`>` expected")),
                    }
                }
                Ok(Value::Constant(self.mentioned(&at.words[start..at.at])))
            }
            Word::Sign('(' | '[' | '{') => {
                at.at -= 1;
                let start = at.at;
                at.skip_brackets();
                Ok(Value::Constant(self.mentioned(&at.words[start..at.at])))
            }
            // `undef`, floats, `add (…)`, `blockaddress(…)`, and what comes after LLVM 22.
            Word::Plain(_) | Word::Text(_) => {
                let start = at.at;
                while let Some(Word::Plain(_)) = at.peek() {
                    if matches!(at.words.get(at.at + 1).map(|t| t.word), Some(Word::Sign('('))) {
                        at.next();
                        break;
                    }
                    if matches!(word, Word::Plain("undef" | "poison" | "none" | "asm"))
                        || word_is_number(word)
                    {
                        break;
                    }
                    at.next();
                }
                at.skip_brackets();
                Ok(Value::Constant(self.mentioned(&at.words[start..at.at])))
            }
            Word::Metadata(_) | Word::Group(_) | Word::Sign(_) => {
                Err(Error::new(place, "a value is expected here".to_owned()))
            }
        }
    }

    /// Globals and functions among words.
    pub fn mentioned(&mut self, words: &[Token]) -> Vec<Symbol> {
        let mut out: Vec<Symbol> = Vec::new();
        for token in words {
            if let Word::Global(name) = token.word {
                out.push(self.module.symbol(name));
            }
        }
        out
    }

    /// `T, T* base, indices…` of a `getelementptr`.
    pub fn address(&mut self, at: &mut Cursor, depth: u32) -> Result<Address, Error> {
        let of = at.read_type()?;
        at.expect(',')?;
        let (_, base) = self.typed_nested(at, depth)?;
        let name = match &of {
            Type::Named(name) => Some(name.clone()),
            _ => None,
        };
        let mut address = Address { base, offset: Offset::ZERO, indices: Vec::new(), of: name };
        let mut inside: Option<Type> = None;
        while at.take(Word::Sign(',')) {
            if matches!(at.peek(), Some(Word::Metadata(_))) {
                at.at -= 1;
                break;
            }
            at.keyword("inrange");
            let (_, index) = self.typed_nested(at, depth)?;
            let step = match &inside {
                None => {
                    let size = self.module.layout.size(&of);
                    inside = Some(of.clone());
                    by(size, &index)
                }
                Some(outer) => {
                    let (step, inner) = self.step(outer, &index);
                    inside = Some(inner);
                    step
                }
            };
            if let Value::Local(local) = index {
                address.indices.push(local);
            }
            address.offset = address.offset.plus(step);
        }
        Ok(address)
    }

    /// One index into a type: how far, and what is there.
    fn step(&self, outer: &Type, index: &Value) -> (Offset, Type) {
        let layout = &self.module.layout;
        match (layout.resolve(outer), index) {
            (Type::Struct(..), Value::Int(i)) => {
                match layout.field(outer, usize::try_from(*i).unwrap_or(usize::MAX)) {
                    Some((at, inner)) => (exactly(at), inner.clone()),
                    None => (Offset::ANY, Type::None),
                }
            }
            (Type::Array(_, inner) | Type::Vector(_, inner), index) => {
                (by(layout.size(inner), index), (**inner).clone())
            }
            _ => (Offset::ANY, Type::None),
        }
    }
}

fn word_is_number(word: Word) -> bool {
    matches!(word, Word::Plain(name) if name.starts_with(|c: char| c.is_ascii_digit()))
}

/// A place in memory relative to another one.
pub struct Address {
    /// The other one.
    pub base: Value,
    /// How far behind it.
    pub offset: Offset,
    /// Indices that are no constants.
    pub indices: Vec<Local>,
    /// The structure that `base` points at.
    pub of: Option<String>,
}

fn exactly(at: u64) -> Offset {
    i64::try_from(at).map_or(Offset::ANY, |at| Offset { at, every: 0 })
}

/// `index` times `size`.
fn by(size: Option<u64>, index: &Value) -> Offset {
    match (size, index) {
        (Some(size), Value::Int(index)) => {
            let far = i64::try_from(size).ok().and_then(|size| size.checked_mul(*index));
            far.map_or(Offset::ANY, |at| Offset { at, every: 0 })
        }
        // An index that wraps round would still move by a power of two: keep to that.
        (Some(size), _) if size > 0 => Offset { at: 0, every: size },
        (Some(_), _) => Offset::ZERO,
        (None, _) => Offset::ANY,
    }
}

/// Attributes between a type and its value: words, words with brackets, `align 8`, strings.
pub fn skip_attributes(at: &mut Cursor) -> Vec<(String, usize)> {
    let mut seen = Vec::new();
    loop {
        match at.peek() {
            Some(Word::Plain(name)) if !is_value(name) => {
                // A constant expression has its operands in brackets too, but attributes have known shapes.
                if is_expression(name) {
                    return seen;
                }
                seen.push((name.to_owned(), at.at));
                at.next();
                match (name, at.peek()) {
                    ("align" | "alignstack", Some(Word::Plain(_))) => at.at += 1,
                    (_, Some(Word::Sign('('))) => at.skip_brackets(),
                    _ => {}
                }
            }
            Some(Word::Text(_))
                if matches!(at.words.get(at.at + 1).map(|t| t.word), Some(Word::Sign('='))) =>
            {
                at.at += 3;
            }
            _ => return seen,
        }
    }
}

fn is_value(name: &str) -> bool {
    matches!(name, "true" | "false" | "null" | "undef" | "poison" | "none" | "zeroinitializer" | "asm")
        || name.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

fn is_expression(name: &str) -> bool {
    COPIES.contains(&name)
        || matches!(
            name,
            "getelementptr"
                | "add"
                | "sub"
                | "mul"
                | "xor"
                | "and"
                | "or"
                | "shl"
                | "lshr"
                | "ashr"
                | "select"
                | "icmp"
                | "trunc"
                | "zext"
                | "sext"
                | "blockaddress"
                | "dso_local_equivalent"
                | "no_cfi"
                | "splat"
                | "ptrauth"
                | "extractelement"
                | "insertelement"
                | "shufflevector"
        )
}
