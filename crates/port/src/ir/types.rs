//! Types and how they lie in memory: what offsets of fields need.

use super::lexer::{Token, Word};
use rustc_hash::FxHashMap;

/// A type, as far as its size matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `iN`, floats and other scalars: bits.
    Scalar(u32),
    /// `ptr`, `T*`.
    Pointer,
    /// `[n x T]`.
    Array(u64, Box<Type>),
    /// `<n x T>`.
    Vector(u64, Box<Type>),
    /// `{ … }`, and `<{ … }>` if packed.
    Struct(Vec<Type>, bool),
    /// `%name`.
    Named(String),
    /// `void`, `label`, `metadata`, `opaque`, functions: nothing in memory.
    None,
}

/// Sizes and alignments on one machine.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Bytes of a pointer.
    pub pointer: u64,
    /// Alignment of 128-bit integers.
    pub wide: u64,
    /// The named types.
    pub named: FxHashMap<String, Type>,
}

/// Types may be nested so deep: a bound against nonsense.
const DEPTH: u32 = 64;

impl Default for Layout {
    fn default() -> Layout {
        Layout { pointer: 8, wide: 16, named: FxHashMap::default() }
    }
}

impl Layout {
    /// Takes `target datalayout = "…"` to heart.
    pub fn read(&mut self, description: &str) {
        for part in description.split('-') {
            match part.split_once(':') {
                Some(("p", sizes)) => {
                    let bits = sizes.split(':').next().and_then(|bits| bits.parse::<u64>().ok());
                    self.pointer = bits.unwrap_or(64).clamp(8, 128) / 8;
                }
                Some(("i128", bits)) => self.wide = bits.parse::<u64>().unwrap_or(128).clamp(8, 128) / 8,
                _ => {}
            }
        }
        if !description.contains("i128:") {
            self.wide = 8;
        }
    }

    /// Bytes from one element of an array of this type to the next, and its alignment.
    fn size_align(&self, of: &Type, depth: u32) -> Option<(u64, u64)> {
        if depth > DEPTH {
            return None;
        }
        match of {
            Type::Scalar(bits) => {
                let bytes = u64::from(*bits).div_ceil(8).next_power_of_two();
                let align = if bytes >= 16 { self.wide } else { bytes };
                Some((bytes.next_multiple_of(align), align))
            }
            Type::Pointer => Some((self.pointer, self.pointer)),
            Type::Array(n, of) => {
                let (size, align) = self.size_align(of, depth + 1)?;
                Some((size.checked_mul(*n)?, align))
            }
            Type::Vector(n, of) => {
                let (size, _) = self.size_align(of, depth + 1)?;
                let bytes = size.checked_mul(*n)?.checked_next_power_of_two()?;
                Some((bytes, bytes.max(1)))
            }
            Type::Struct(fields, packed) => {
                let (mut at, mut most) = (0u64, 1);
                for field in fields {
                    let (size, align) = self.size_align(field, depth + 1)?;
                    let align = if *packed { 1 } else { align };
                    at = at.checked_next_multiple_of(align)?.checked_add(size)?;
                    most = most.max(align);
                }
                Some((at.checked_next_multiple_of(most)?, most))
            }
            Type::Named(name) => self.size_align(self.named.get(name)?, depth + 1),
            Type::None => None,
        }
    }

    /// Bytes from one element of an array of this type to the next; `None` if it has no size.
    pub fn size(&self, of: &Type) -> Option<u64> {
        Some(self.size_align(of, 0)?.0)
    }

    /// A type with its name looked up.
    pub fn resolve<'a>(&'a self, mut of: &'a Type) -> &'a Type {
        for _ in 0..DEPTH {
            match of {
                Type::Named(name) => match self.named.get(name) {
                    Some(known) => of = known,
                    None => return &Type::None,
                },
                _ => break,
            }
        }
        of
    }

    /// A field of a structure: where it begins, and its type.
    pub fn field<'a>(&'a self, of: &'a Type, index: usize) -> Option<(u64, &'a Type)> {
        let Type::Struct(fields, packed) = self.resolve(of) else { return None };
        let mut at = 0u64;
        for (i, field) in fields.iter().enumerate() {
            let (size, align) = self.size_align(field, 0)?;
            at = at.checked_next_multiple_of(if *packed { 1 } else { align })?;
            if i == index {
                return Some((at, field));
            }
            at = at.checked_add(size)?;
        }
        None
    }
}

/// Reads a type at the beginning of `words`; how many words it takes. `None` if there is none.
pub fn read(words: &[Token]) -> Option<(Type, usize)> {
    read_nested(words, 0)
}

fn read_nested(words: &[Token], depth: u32) -> Option<(Type, usize)> {
    if depth > DEPTH {
        return None;
    }
    let word = |i: usize| words.get(i).map(|t| t.word);
    let (mut read, mut at) = match word(0)? {
        Word::Local(name) => (Type::Named(name.to_owned()), 1),
        Word::Plain(name) => (scalar(name)?, 1),
        Word::Sign('[') => {
            let (n, of, at) = sequence(words, depth)?;
            (word(at)? == Word::Sign(']')).then_some((Type::Array(n, Box::new(of)), at + 1))?
        }
        Word::Sign('<') if word(1)? == Word::Sign('{') => {
            let (fields, at) = fields(words, 2, '}', depth)?;
            (word(at)? == Word::Sign('>')).then_some((Type::Struct(fields, true), at + 1))?
        }
        Word::Sign('<') => {
            let scalable = usize::from(word(1)? == Word::Plain("vscale")) * 2;
            let (n, of, at) = sequence(&words[scalable..], depth)?;
            let at = at + scalable;
            (word(at)? == Word::Sign('>')).then_some((Type::Vector(n, Box::new(of)), at + 1))?
        }
        Word::Sign('{') => {
            let (fields, at) = fields(words, 1, '}', depth)?;
            (Type::Struct(fields, false), at)
        }
        _ => return None,
    };
    loop {
        match word(at) {
            Some(Word::Sign('*')) => (read, at) = (Type::Pointer, at + 1),
            Some(Word::Plain("addrspace")) => {
                at = close(words, at + 1)?;
                // `T addrspace(1)*` or `ptr addrspace(1)`: the star, if any, is next.
            }
            // The parameters of a function.
            Some(Word::Sign('(')) if is_function_type(words, at) => {
                (read, at) = (Type::None, close(words, at)?)
            }
            _ => return Some((read, at)),
        }
    }
}

/// Whether brackets behind a type are those of a function type: what stands in them is types, `...` or nothing, followed by a
/// callee or a star.
fn is_function_type(words: &[Token], at: usize) -> bool {
    let Some(end) = close(words, at) else { return false };
    matches!(
        words.get(end).map(|t| t.word),
        Some(
            Word::Sign('*') | Word::Global(_) | Word::Local(_) | Word::Plain("asm" | "addrspace" | "bitcast")
        )
    )
}

fn scalar(name: &str) -> Option<Type> {
    Some(match name {
        "ptr" => Type::Pointer,
        "void" | "label" | "metadata" | "opaque" | "token" | "target" => Type::None,
        "half" | "bfloat" => Type::Scalar(16),
        "float" => Type::Scalar(32),
        "double" | "x86_mmx" => Type::Scalar(64),
        "x86_fp80" | "fp128" | "ppc_fp128" => Type::Scalar(128),
        _ => Type::Scalar(name.strip_prefix('i')?.parse().ok().filter(|bits| *bits <= 1 << 23)?),
    })
}

/// `[ n x T`: the number, the type, and where it ends.
fn sequence(words: &[Token], depth: u32) -> Option<(u64, Type, usize)> {
    let Word::Plain(number) = words.get(1)?.word else { return None };
    if words.get(2)?.word != Word::Plain("x") {
        return None;
    }
    let (of, length) = read_nested(&words[3..], depth + 1)?;
    Some((number.parse().ok()?, of, 3 + length))
}

fn fields(words: &[Token], mut at: usize, end: char, depth: u32) -> Option<(Vec<Type>, usize)> {
    let mut out = Vec::new();
    loop {
        match words.get(at)?.word {
            Word::Sign(sign) if sign == end => return Some((out, at + 1)),
            Word::Sign(',') => at += 1,
            _ => {
                let (field, length) = read_nested(&words[at..], depth + 1)?;
                out.push(field);
                at += length;
            }
        }
    }
}

/// Where the bracket that opens at `at` has been closed: the word behind it.
pub fn close(words: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, token) in words.iter().enumerate().skip(at) {
        match token.word {
            Word::Sign('(' | '[' | '{') => depth += 1,
            Word::Sign(')' | ']' | '}') => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(i + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::lexer::words;
    use super::*;

    fn parse(text: &str) -> (Type, usize) {
        let mut out = Vec::new();
        words(text, 0..text.len(), &mut out).expect("words");
        read(&out).expect(text)
    }

    #[test]
    fn sizes_and_fields() {
        let mut layout = Layout::default();
        layout.read("e-m:e-p:32:32-i64:64-v128:64:128-n32-S64");
        assert_eq!(layout.pointer, 4);
        let mut layout = Layout::default();
        layout.read("e-m:e-p270:32:32-i64:64-i128:128");
        layout.named.insert("s".into(), parse("{ i8, [3 x i64], ptr, <{ i8, i32 }> }").0);
        let s = Type::Named("s".into());
        assert_eq!(layout.size(&s), Some(48));
        assert_eq!(layout.field(&s, 1).map(|f| f.0), Some(8));
        assert_eq!(layout.field(&s, 3).map(|f| f.0), Some(40));
        layout.named.insert("loop".into(), Type::Named("loop".into()));
        assert_eq!(layout.size(&Type::Named("loop".into())), None);
    }

    #[test]
    fn pointers_and_functions() {
        assert_eq!(parse("i32* (i8*, ...)** %f"), (Type::Pointer, 10));
        assert_eq!(parse("i8* getelementptr (").0, Type::Pointer);
        assert_eq!(parse("ptr addrspace(1) %x").1, 5);
        assert_eq!(parse("void (i32, ...) @printf(").0, Type::None);
        assert_eq!(parse("<4 x i32>").0, Type::Vector(4, Box::new(Type::Scalar(32))));
    }
}
