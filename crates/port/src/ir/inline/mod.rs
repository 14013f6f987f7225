//! The code of one thread: a function with its calls followed.
//!
//! Copies the function and, at each call, the function that is called, with fresh names for values and blocks. Calls that cannot
//! be followed stay calls: to functions without a body, through pointers that could be anything, and back into a function that
//! is being copied (recursion). An exception in a callee goes on where the `invoke` around it says.

mod calls;
mod copy;
mod taken;

use super::code::{Code, FunctionId};
use super::module::{End, Function, Instruction, Local, Op, Value};
use rustc_hash::FxHashMap;

/// An instruction in the text: what a fence can be put in front of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// In front of an instruction.
    Before {
        /// The function.
        function: FunctionId,
        /// The block.
        block: u32,
        /// The instruction in the block.
        index: u32,
    },
    /// On the way from one block to another.
    Edge {
        /// The function.
        function: FunctionId,
        /// The block that is left.
        from: u32,
        /// The block that is entered.
        to: u32,
    },
}

/// An instruction of the thread.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its result.
    pub result: Option<Local>,
    /// What it does, with symbols replaced by [`Object`](super::code::Object)s. A jump into a callee is a `Compute`.
    pub op: Op,
    /// Where it stands.
    pub site: Site,
    /// It stands for nothing but its place: where a callee is entered, or where it comes back to.
    pub mark: bool,
}

/// A block of the thread.
#[derive(Clone, Debug)]
pub struct Room {
    /// What happens; the last one says where control goes.
    pub steps: Vec<Step>,
}

/// The code of one thread.
#[derive(Debug, Default)]
pub struct Body {
    /// The first one is the entry.
    pub rooms: Vec<Room>,
    /// How many values there are; the first ones are the parameters.
    pub values: u32,
    /// How many of them are parameters.
    pub parameters: u32,
    /// What addresses in parameters are multiples of.
    pub aligns: FxHashMap<Local, u64>,
    /// Values that point at something of a known type: the file of its description, and its number there.
    pub pointees: FxHashMap<Local, (u32, u32)>,
    /// What was not followed, and why.
    pub notes: Vec<Note>,
}

/// Something that was treated conservatively.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Note {
    /// Where.
    pub site: Site,
    /// Why.
    pub why: Why,
    /// What is called.
    pub name: String,
}

/// Why a call was not followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// The function is not in these files.
    External,
    /// A pointer to a function.
    Indirect,
    /// Assembly that may touch memory.
    Assembly,
    /// The function is already being followed.
    Recursion,
    /// The thread has grown too large.
    Size,
    /// An instruction that the reader does not know.
    Instruction,
}

/// A thread may have so many instructions, calls followed; what is called beyond that stays a call.
const LARGEST: usize = 100_000;
/// Calls are followed so deep.
const DEEPEST: usize = 200;

/// The code of a thread that starts in a function.
pub fn inline(code: &Code, function: FunctionId) -> Body {
    let mut inliner =
        Inliner { code, body: Body::default(), stack: Vec::new(), steps: 0, defs: FxHashMap::default() };
    let Some(root) = code.function(function) else { return inliner.body };
    inliner.body.parameters = root.parameters.len() as u32;
    inliner.copy(function, root, None, None);
    taken::cut(code, &mut inliner.body);
    inliner.body
}

struct Inliner<'c> {
    code: &'c Code,
    body: Body,
    stack: Vec<FunctionId>,
    steps: usize,
    /// Where values that may be pointers to functions come from.
    defs: FxHashMap<Local, Value>,
}

/// Where control goes when a callee is left.
#[derive(Clone, Copy)]
struct Back {
    /// By `return`.
    normal: usize,
    /// By an exception; `None`: out of the thread.
    exception: Option<usize>,
}

impl Inliner<'_> {
    fn room(&mut self) -> usize {
        self.body.rooms.push(Room { steps: Vec::new() });
        self.body.rooms.len() - 1
    }

    fn push(&mut self, room: usize, step: Step) {
        self.steps += 1;
        if let (Some(result), Op::Copy(value)) = (step.result, &step.op) {
            self.defs.insert(result, value.clone());
        }
        self.body.rooms[room].steps.push(step);
    }

    fn end(&mut self, room: usize, end: End, site: Site) {
        self.push(room, Step { result: None, op: Op::End(end), site, mark: false });
    }

    /// Copies a function: the room where it begins, and the values it can return.
    fn copy(
        &mut self,
        id: FunctionId,
        function: &Function,
        arguments: Option<&[Value]>,
        back: Option<Back>,
    ) -> (usize, Vec<Value>) {
        let first = self.body.values;
        self.body.values += function.locals.len() as u32;
        self.stack.push(id);
        for (local, parameter) in function.parameters.iter().enumerate() {
            if parameter.align > 1 {
                self.body.aligns.insert(first + local as u32, parameter.align);
            }
        }
        for (&local, &of) in &function.pointees {
            self.body.pointees.insert(first + local, (id.file, of));
        }
        let rooms: Vec<usize> = function.blocks.iter().map(|_| self.room()).collect();
        let mut entry = rooms.first().copied().unwrap_or_default();
        if let Some(arguments) = arguments {
            // A room of its own: the first block may be a loop.
            let before = self.room();
            let site = Site::Before { function: id, block: 0, index: 0 };
            for local in 0..function.parameters.len() {
                let op = Op::Copy(arguments.get(local).cloned().unwrap_or(Value::Constant(Vec::new())));
                self.push(before, Step { result: Some(first + local as u32), op, site, mark: false });
            }
            self.end(before, End::Jump(entry), site);
            entry = before;
        }
        let mut frame = Frame { id, first, rooms, back, returned: Vec::new() };
        for (block, content) in function.blocks.iter().enumerate() {
            let mut at = frame.rooms[block];
            for (index, instruction) in content.body.iter().enumerate() {
                at = self.instruction(&mut frame, at, block, index, instruction);
            }
        }
        self.stack.pop();
        (entry, frame.returned)
    }

    /// Copies one instruction; the room where the next one goes.
    fn instruction(
        &mut self,
        frame: &mut Frame,
        at: usize,
        block: usize,
        index: usize,
        from: &Instruction,
    ) -> usize {
        let site = Site::Before { function: frame.id, block: block as u32, index: index as u32 };
        let result = from.result.map(|local| frame.first + local);
        match &from.op {
            Op::Call(call) => {
                let next = Site::Before { function: frame.id, block: block as u32, index: index as u32 + 1 };
                self.call(frame, at, result, call, site, next, None)
            }
            Op::End(End::Invoke(call, normal, exception)) => {
                let (normal, to) = (frame.rooms[*normal], *normal as u32);
                let exception = frame.rooms[*exception];
                let edge = Site::Edge { function: frame.id, from: block as u32, to };
                let at = self.call(frame, at, result, call, site, edge, Some(exception));
                self.end(at, End::Jump(normal), edge);
                at
            }
            Op::End(end) => {
                let end = match end {
                    End::Jump(to) => End::Jump(frame.rooms[*to]),
                    End::Branch(value, yes, no) => {
                        End::Branch(self.value(frame, value), frame.rooms[*yes], frame.rooms[*no])
                    }
                    End::Switch(value, to) => {
                        End::Switch(self.value(frame, value), to.iter().map(|&to| frame.rooms[to]).collect())
                    }
                    End::Any(to) => End::Any(to.iter().map(|&to| frame.rooms[to]).collect()),
                    End::Return(value) => {
                        let value = value.as_ref().map(|value| self.value(frame, value));
                        match frame.back {
                            Some(back) => {
                                frame.returned.extend(value);
                                End::Jump(back.normal)
                            }
                            None => End::Return(value),
                        }
                    }
                    End::Resume => match frame.back.and_then(|back| back.exception) {
                        Some(exception) => End::Jump(exception),
                        None => End::Leave,
                    },
                    End::Leave | End::Invoke(..) => End::Leave,
                };
                self.end(at, end, site);
                at
            }
            op => {
                if let Op::Unknown(name, _) = op {
                    self.note(site, Why::Instruction, name.clone());
                }
                let op = self.op(frame, op);
                self.push(at, Step { result, op, site, mark: false });
                at
            }
        }
    }

    fn note(&mut self, site: Site, why: Why, name: String) {
        self.body.notes.push(Note { site, why, name });
    }
}

/// A function that is being copied.
struct Frame {
    id: FunctionId,
    /// The number of its first local.
    first: Local,
    /// The rooms where its blocks begin.
    rooms: Vec<usize>,
    /// Where it returns to; `None`: it is the thread itself.
    back: Option<Back>,
    /// What it returns.
    returned: Vec<Value>,
}
