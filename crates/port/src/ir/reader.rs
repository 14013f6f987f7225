//! A whole file: types, globals, functions, debug information.

use super::Error;
use super::debug;
use super::instruction::{self, Labels};
use super::lexer::{Statement, Token, Word, statements, words};
use super::limits::Limits;
use super::module::{
    Alias, Block, Declared, Function, Global, Instruction, Local, Module, Offset, Op, Parameter, Positions,
    Value,
};
use super::operands::{Cursor, Locals, Operands, skip_attributes};
use super::types;
use rustc_hash::FxHashMap;

/// Reads a file of LLVM IR.
pub fn read(text: &str) -> Result<Module, Error> {
    refuse_what_is_no_text(text)?;
    let statements = statements(text);
    if statements.is_empty() {
        return Err(Error::new(0, "there is nothing in this file".to_owned()));
    }
    if let Some(last) = statements.last().filter(|last| last.open) {
        return Err(Error::new(
            last.span.end,
            "the file ends inside brackets: it seems to have been cut off".to_owned(),
        ));
    }
    let mut reader = Reader { text, module: Module::default(), words: Vec::new() };
    reader.before(&statements)?;
    reader.definitions(&statements)?;
    debug::check(text, &reader.module)?;
    reader.all_defined()?;
    Ok(reader.module)
}

/// Bitcode and archives come under the same names.
fn refuse_what_is_no_text(text: &str) -> Result<(), Error> {
    let refuse = |what: &str| Err(Error::new(0, what.to_owned()));
    match text.as_bytes() {
        [b'B', b'C', 0xC0, 0xDE, ..] | [0xDE, 0xC0, 0x17, 0x0B, ..] => refuse(super::BITCODE),
        bytes if bytes.contains(&0) => refuse("not valid text: a NUL byte"),
        _ => Ok(()),
    }
}

const CUT_OFF: &str = "the file ends inside a function: it seems to have been cut off";

struct Reader<'a> {
    text: &'a str,
    module: Module,
    words: Vec<Token<'a>>,
}

impl<'a> Reader<'a> {
    /// Cuts a statement into words.
    fn cut(&mut self, statement: &Statement) -> Result<(), Error> {
        let unclosed = |at| Error::new(at, "this string is not closed".to_owned());
        words(self.text, statement.span.clone(), &mut self.words).map_err(unclosed)
    }

    /// What functions need to know: types, attribute groups, layout, metadata. They may stand behind them.
    fn before(&mut self, statements: &[Statement]) -> Result<(), Error> {
        for statement in statements {
            let line = &self.text[statement.span.clone()];
            match line.as_bytes().first() {
                Some(b'!') => {
                    let Some((name, node)) = line[1..].split_once('=') else { continue };
                    if let Ok(number) = name.trim().parse() {
                        let end = statement.span.end;
                        self.module.metadata.insert(number, end - node.trim_start().len()..end);
                    }
                }
                Some(b'%') if line.contains("= type") || line.contains("=type") => {
                    self.cut(statement)?;
                    if let [Token { word: Word::Local(name), .. }, _, _, rest @ ..] = &self.words[..]
                        && let Some((read, _)) = types::read(rest)
                    {
                        self.module.layout.named.insert((*name).to_owned(), read);
                    }
                }
                _ if line.starts_with("target ") || line.starts_with("source_filename") => {
                    let mut parts = line.splitn(3, '"');
                    let (what, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                    match () {
                        () if what.contains("datalayout") => self.module.layout.read(value),
                        () if what.contains("triple") => self.module.triple = value.to_owned(),
                        () => self.module.source = value.to_owned(),
                    }
                }
                _ if line.starts_with("attributes #") => {
                    self.cut(statement)?;
                    let limits = Limits::read(&self.words);
                    let nounwind = line.contains(" nounwind");
                    let number: Option<u32> =
                        line["attributes #".len()..].split(' ').next().and_then(|n| n.parse().ok());
                    self.module.limits.extend(number.map(|number| (number, limits)));
                    self.module.nounwind_groups.extend(number.filter(|_| nounwind));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Globals, declarations, functions.
    fn definitions(&mut self, statements: &[Statement]) -> Result<(), Error> {
        let text = self.text;
        let line = |statement: &Statement| &text[statement.span.clone()];
        let mut known = false;
        let mut next = 0;
        while let Some(statement) = statements.get(next) {
            next += 1;
            let line_here = line(statement);
            let first = line_here.split([' ', '\t']).next().unwrap_or_default();
            known |= matches!(
                first,
                "define" | "declare" | "target" | "source_filename" | "attributes" | "module"
            ) || line_here.starts_with(['@', '%', '!', '$', '^']);
            match first {
                "define" => {
                    let rest = &statements[next..];
                    let Some(end) = rest.iter().position(|inner| line(inner) == "}") else {
                        return Err(Error::new(text.trim_end().len(), CUT_OFF.to_owned()));
                    };
                    next += end + 1;
                    let function = self.function(statement, &rest[..end])?;
                    if self.module.bodies.insert(function.name, self.module.functions.len()).is_some() {
                        let name = self.module.name(function.name);
                        return Err(Error::new(function.at, format!("a second function `@{name}`")));
                    }
                    self.module.functions.push(function);
                }
                "declare" => self.declaration(statement)?,
                _ if line_here.starts_with('@') => self.global(statement)?,
                _ if !known => {
                    let message = "this is no LLVM IR: a definition is expected here".to_owned();
                    return Err(Error::new(statement.span.start, message));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Globals and functions that are used must be somewhere; if one is not, the end of the file is missing.
    fn all_defined(&self) -> Result<(), Error> {
        let module = &self.module;
        let unknown = (0..module.symbols.len() as u32).find(|symbol| {
            !(module.globals.contains_key(symbol)
                || module.bodies.contains_key(symbol)
                || module.declared.contains_key(symbol)
                || module.aliases.contains_key(symbol))
        });
        let Some(name) = unknown.map(|symbol| module.name(symbol)) else { return Ok(()) };
        let at =
            [format!("@{name}"), format!("@\"{name}\"")].iter().find_map(|written| self.text.find(written));
        let message = format!("`@{name}` is not defined: the file seems to have been cut off");
        Err(Error::new(at.unwrap_or(self.text.len()), message))
    }

    /// `@name = … global|constant|alias …`
    fn global(&mut self, statement: &Statement) -> Result<(), Error> {
        self.cut(statement)?;
        let [Token { word: Word::Global(name), .. }, rest @ ..] = &self.words[..] else { return Ok(()) };
        let symbol = self.module.symbol(name);
        let has = |what: &str| rest.iter().take(12).any(|token| token.word == Word::Plain(what));
        let internal = has("internal") || has("private");
        let mentions: Vec<&str> = rest
            .iter()
            .filter_map(|token| match token.word {
                Word::Global(name) => Some(name),
                _ => None,
            })
            .collect();
        let mentions: Vec<u32> = mentions.into_iter().map(|name| self.module.symbol(name)).collect();
        if has("ifunc") {
            // Whatever a function chooses that runs before the program.
            self.module.declared.insert(symbol, Declared::default());
            return Ok(());
        }
        if has("alias") {
            let (of, offset) = self.aliasee(statement)?;
            self.module.aliases.insert(symbol, Alias { of, offset, internal });
            return Ok(());
        }
        let global = Global {
            name: symbol,
            constant: has("constant"),
            thread_local: has("thread_local"),
            internal,
            mentions,
        };
        self.module.globals.insert(symbol, global);
        Ok(())
    }

    /// `… alias type, [type] address`: what it is the address of, and how far into that.
    fn aliasee(&mut self, statement: &Statement) -> Result<(u32, Offset), Error> {
        let at = self.words.iter().position(|token| token.word == Word::Plain("alias")).unwrap_or_default();
        let mut cursor = Cursor { words: &self.words, at: at + 1, end: statement.span.end };
        cursor.read_type()?;
        // Of a function, the types of its parameters.
        cursor.skip_brackets();
        cursor.expect(',')?;
        let mut operands = Operands { module: &mut self.module, locals: &mut Locals::default() };
        // Expressions stand there without a type.
        let value = match types::read(&cursor.words[cursor.at..]) {
            Some(_) => operands.typed(&mut cursor)?.1,
            None => operands.value(&mut cursor)?,
        };
        match value {
            Value::Address(symbol, offset) => Ok((symbol, offset)),
            Value::Constant(symbols) if symbols.len() == 1 => Ok((symbols[0], Offset::ANY)),
            _ => Err(Error::new(statement.span.start, "an alias of nothing that is known".to_owned())),
        }
    }

    /// `declare … @name(parameters) …`
    fn declaration(&mut self, statement: &Statement) -> Result<(), Error> {
        self.cut(statement)?;
        let found = self.words.iter().position(|token| matches!(token.word, Word::Global(_)));
        let Some((at, Word::Global(name))) = found.map(|at| (at, self.words[at].word)) else { return Ok(()) };
        let symbol = self.module.symbol(name);
        let end = types::close(&self.words, at + 1).unwrap_or(self.words.len());
        let mut lent = Positions::default();
        let mut depth = 0;
        let mut start = at + 2;
        let mut position = 0;
        for i in at + 1..end {
            match self.words[i].word {
                Word::Sign('(' | '[' | '{' | '<') => depth += 1,
                Word::Sign(')' | ']' | '}' | '>') => depth -= 1,
                _ => {}
            }
            let parameter_ends = depth == 0 || depth == 1 && self.words[i].word == Word::Sign(',');
            if parameter_ends && start <= i {
                if instruction::keeps_nothing(&self.words[start..i]) {
                    lent.insert(position);
                }
                position += 1;
                start = i + 1;
            }
        }
        let rest = &self.words[end..];
        let declared = Declared {
            at: statement.span.start,
            limits: instruction::limits(rest, &self.module),
            fresh: self.words[..at].iter().any(|token| token.word == Word::Plain("noalias")),
            nounwind: instruction::says(rest, "nounwind", &self.module.nounwind_groups),
            lent,
        };
        self.module.declared.insert(symbol, declared);
        Ok(())
    }

    /// A function with its body.
    fn function(&mut self, head: &Statement, body: &[Statement]) -> Result<Function, Error> {
        self.cut(head)?;
        let mut locals = Locals::default();
        let (name, parameters, debug) = self.head(head, &mut locals)?;
        let labels = self.labels(body, &locals, head)?;
        let mut blocks: Vec<Block> = Vec::new();
        let mut pointees = FxHashMap::default();
        for statement in body {
            self.cut(statement)?;
            if let Some(label) = label(&self.words) {
                self.finished(&blocks, statement.span.start)?;
                blocks.push(Block { label: label.to_owned(), at: statement.span.start, body: Vec::new() });
                continue;
            }
            if blocks.is_empty() {
                let label = entry_label(&locals);
                blocks.push(Block { label, at: statement.span.start, body: Vec::new() });
            }
            debug::pointee(self.text, &self.module, &self.words, &locals, &mut pointees);
            if matches!(self.words.first().map(|t| t.word), Some(Word::Group(_))) {
                continue;
            }
            let instruction = self.instruction(statement, &mut locals, &labels)?;
            self.module.instructions += 1;
            self.module.nontemporal |= self.words.iter().any(|t| t.word == Word::Metadata("nontemporal"));
            let Some(block) = blocks.last_mut() else { continue };
            if let Some(last) = block.body.last().filter(|last| matches!(last.op, Op::Terminator(_))) {
                let message = "an instruction behind the end of a block".to_owned();
                return Err(Error::new(last.span.end.max(statement.span.start), message));
            }
            block.body.push(instruction);
        }
        let end = body.last().map_or(head.span.end, |last| last.span.end);
        if blocks.is_empty() {
            return Err(Error::new(end, "this function has no body".to_owned()));
        }
        self.finished(&blocks, end)?;
        let unknown =
            locals.used.iter().zip(&locals.names).find_map(|(used, name)| used.map(|at| (at, name)));
        if let Some((at, name)) = unknown {
            return Err(Error::new(at, format!("`%{name}` is not defined in this function")));
        }
        let head_text = &self.text[head.span.clone()];
        let linkage = head_text.split('@').next().unwrap_or_default();
        let internal = linkage.split_whitespace().any(|word| matches!(word, "internal" | "private"));
        let (locals, at) = (locals.names, head.span.start);
        Ok(Function { name, parameters, locals, blocks, debug, internal, at, pointees })
    }

    /// The last block must say where control goes.
    fn finished(&self, blocks: &[Block], at: usize) -> Result<(), Error> {
        let Some(block) = blocks.last() else { return Ok(()) };
        match block.body.last().map(|last| &last.op) {
            Some(Op::Terminator(_)) => Ok(()),
            _ => {
                let message = format!("block `%{}` does not say where control goes on", block.label);
                Err(Error::new(at, message))
            }
        }
    }

    /// `define … @name(parameters) … {`
    fn head(
        &mut self,
        head: &Statement,
        locals: &mut Locals,
    ) -> Result<(u32, Vec<Parameter>, Option<u32>), Error> {
        let found = self.words.iter().position(|token| matches!(token.word, Word::Global(_)));
        let Some((at, Word::Global(name))) = found.map(|at| (at, self.words[at].word)) else {
            return Err(Error::new(head.span.start, "the name of a function is expected here".to_owned()));
        };
        let symbol = self.module.symbol(name);
        let mut cursor = Cursor { words: &self.words, at: at + 1, end: head.span.end };
        cursor.expect('(')?;
        let mut parameters = Vec::new();
        while !cursor.take(Word::Sign(')')) {
            if cursor.keyword("...") {
                continue;
            }
            cursor.read_type()?;
            let attributes = skip_attributes(&mut cursor);
            let place = cursor.place();
            let name = match cursor.peek() {
                Some(Word::Local(name)) => {
                    cursor.next();
                    name.to_owned()
                }
                _ => locals.names.len().to_string(),
            };
            let defined = locals.defined(&name, place);
            defined.ok_or_else(|| Error::new(place, format!("a second `%{name}`")))?;
            let number = |at: usize| match cursor.words.get(at + 1).map(|token| token.word) {
                Some(Word::Plain(number)) => number.parse().ok(),
                _ => None,
            };
            let align = attributes.iter().filter(|(name, _)| name == "align").find_map(|(_, at)| number(*at));
            let copied = attributes.iter().find(|(name, _)| name == "byval").map(|(_, at)| {
                let of = cursor.words.get(at + 2..).and_then(types::read);
                of.and_then(|(of, _)| self.module.layout.size(&of)).unwrap_or(0)
            });
            parameters.push(Parameter { align: align.unwrap_or(1), copied });
            if !cursor.take(Word::Sign(',')) && cursor.peek() != Some(Word::Sign(')')) {
                return Err(cursor.error("`,` or `)` expected"));
            }
        }
        let debug = debug_number(&self.words);
        Ok((symbol, parameters, debug))
    }

    /// Where blocks are, by name. The first one may have a number for a name, which the text leaves out.
    fn labels(&mut self, body: &[Statement], locals: &Locals, head: &Statement) -> Result<Labels, Error> {
        let mut labels = Labels::default();
        for (i, statement) in body.iter().enumerate() {
            // Labels end in a colon; everything else needs no second look.
            let line = &self.text[statement.span.clone()];
            let name = if line.ends_with(':') {
                self.cut(statement)?;
                label(&self.words).map(str::to_owned)
            } else {
                (i == 0).then(|| entry_label(locals))
            };
            let Some(name) = name else { continue };
            let number = labels.len();
            if labels.insert(name.clone(), number).is_some() {
                return Err(Error::new(statement.span.start, format!("a second block `%{name}`")));
            }
        }
        self.cut(head)?;
        Ok(labels)
    }

    fn instruction(
        &mut self,
        statement: &Statement,
        locals: &mut Locals,
        labels: &Labels,
    ) -> Result<Instruction, Error> {
        let mut cursor = Cursor { words: &self.words, at: 0, end: statement.span.end };
        let result: Option<Local> = match (self.words.first(), self.words.get(1)) {
            (Some(&Token { word: Word::Local(name), at }), Some(Token { word: Word::Sign('='), .. })) => {
                cursor.at = 2;
                let defined = locals.defined(name, at);
                Some(defined.ok_or_else(|| Error::new(at, format!("a second `%{name}`")))?)
            }
            _ => None,
        };
        let mut operands = Operands { module: &mut self.module, locals };
        let op = instruction::read(&mut operands, &mut cursor, labels)?;
        Ok(Instruction { result, op, span: statement.span.clone(), debug: debug_number(&self.words) })
    }
}

/// The number behind `!dbg`.
fn debug_number(words: &[Token]) -> Option<u32> {
    let at = words.iter().position(|token| token.word == Word::Metadata("dbg"))?;
    match words.get(at + 1)?.word {
        Word::Metadata(number) => number.parse().ok(),
        _ => None,
    }
}

/// The name of the first block if it has no label: the next number.
fn entry_label(locals: &Locals) -> String {
    let unnamed = locals.names.iter().filter(|name| name.parse::<u32>().is_ok()).count();
    unnamed.to_string()
}

/// The label that a statement is, if it is one.
fn label<'a>(words: &[Token<'a>]) -> Option<&'a str> {
    match words {
        [Token { word: Word::Plain(name) | Word::Text(name), .. }, Token { word: Word::Sign(':'), .. }] => {
            Some(name)
        }
        _ => None,
    }
}
