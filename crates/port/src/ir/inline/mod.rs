//! The code of one thread: a function with its calls followed.
//!
//! Copies the function and, at each call, the function that is called, with fresh names for values and blocks. Calls that cannot
//! be followed stay calls: to functions without a body, through pointers that could be anything, and back into a function that
//! is being copied (recursion). An exception in a callee goes on where the `invoke` around it says.

mod calls;
mod copy;
mod moved;

use super::code::{Code, FunctionId};
use super::module::{Function, Instruction, Local, Op, Terminator, Value};
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

/// No block: a site there is between two things that one instruction does, where nothing can be put.
pub const NO_BLOCK: u32 = u32::MAX;

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

/// A basic block of the thread.
#[derive(Clone, Debug)]
pub struct Block {
    /// What happens; the last one says where control goes.
    pub steps: Vec<Step>,
}

/// The code of one thread.
#[derive(Debug, Default)]
pub struct Body {
    /// The first one is the entry.
    pub blocks: Vec<Block>,
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
    /// The call or instruction.
    pub site: Site,
    /// Why it was not followed.
    pub reason: Reason,
    /// The function or instruction that it names.
    pub name: String,
}

/// Why a call was not followed, or what the user took for granted and should not have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// Something volatile that may guard plain accesses, which were left out.
    VolatileFlag,
    /// An atomic access that is not ordered with plain ones that it may guard, which were left out.
    RelaxedFlag,
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
    /// Nobody calls the function by name, but its address is given to others, or stands where pointers are called.
    Given,
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
    moved::cut(code, &mut inliner.body);
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
    fn new_block(&mut self) -> usize {
        self.body.blocks.push(Block { steps: Vec::new() });
        self.body.blocks.len() - 1
    }

    fn push(&mut self, block: usize, step: Step) {
        self.steps += 1;
        if let (Some(result), Op::Copy(value)) = (step.result, &step.op) {
            self.defs.insert(result, value.clone());
        }
        self.body.blocks[block].steps.push(step);
    }

    fn terminate(&mut self, block: usize, end: Terminator, site: Site) {
        self.push(block, Step { result: None, op: Op::Terminator(end), site, mark: false });
    }

    /// Copies a function: the block where it begins, and the values it can return.
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
        let blocks: Vec<usize> = function.blocks.iter().map(|_| self.new_block()).collect();
        let mut entry = blocks.first().copied().unwrap_or_default();
        if let Some(arguments) = arguments {
            // A block of its own: the first block may be a loop.
            let before = self.new_block();
            let site = Site::Before { function: id, block: 0, index: 0 };
            for local in 0..function.parameters.len() {
                let op = Op::Copy(arguments.get(local).cloned().unwrap_or(Value::Constant(Vec::new())));
                self.push(before, Step { result: Some(first + local as u32), op, site, mark: false });
            }
            self.terminate(before, Terminator::Jump(entry), site);
            entry = before;
        }
        let mut frame = Frame { id, first, blocks, back, returned: Vec::new() };
        for (block, content) in function.blocks.iter().enumerate() {
            let mut at = frame.blocks[block];
            for (index, instruction) in content.body.iter().enumerate() {
                at = self.instruction(&mut frame, at, block, index, instruction);
            }
        }
        self.stack.pop();
        (entry, frame.returned)
    }

    /// Copies one instruction; the block where the next one goes.
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
            Op::Terminator(Terminator::Invoke(call, normal, exception)) => {
                let (normal, to) = (frame.blocks[*normal], *normal as u32);
                let exception = frame.blocks[*exception];
                let edge = Site::Edge { function: frame.id, from: block as u32, to };
                let at = self.call(frame, at, result, call, site, edge, Some(exception));
                self.terminate(at, Terminator::Jump(normal), edge);
                at
            }
            Op::Terminator(end) => {
                let end = match end {
                    Terminator::Jump(to) => Terminator::Jump(frame.blocks[*to]),
                    Terminator::Branch(value, yes, no) => {
                        Terminator::Branch(self.value(frame, value), frame.blocks[*yes], frame.blocks[*no])
                    }
                    Terminator::Switch(value, to) => Terminator::Switch(
                        self.value(frame, value),
                        to.iter().map(|&to| frame.blocks[to]).collect(),
                    ),
                    Terminator::Any(to) => Terminator::Any(to.iter().map(|&to| frame.blocks[to]).collect()),
                    Terminator::Return(value) => {
                        let value = value.as_ref().map(|value| self.value(frame, value));
                        match frame.back {
                            Some(back) => {
                                frame.returned.extend(value);
                                Terminator::Jump(back.normal)
                            }
                            None => Terminator::Return(value),
                        }
                    }
                    Terminator::Resume => match frame.back.and_then(|back| back.exception) {
                        Some(exception) => Terminator::Jump(exception),
                        None => Terminator::Leave,
                    },
                    Terminator::Leave | Terminator::Invoke(..) => Terminator::Leave,
                };
                self.terminate(at, end, site);
                at
            }
            op => {
                if let Op::Unknown(name, _) = op {
                    self.note(site, Reason::Instruction, name.clone());
                }
                let op = self.op(frame, op);
                self.push(at, Step { result, op, site, mark: false });
                at
            }
        }
    }

    fn note(&mut self, site: Site, reason: Reason, name: String) {
        self.body.notes.push(Note { site, reason, name });
    }
}

/// A function that is being copied.
struct Frame {
    id: FunctionId,
    /// The number of its first local.
    first: Local,
    /// For each of its blocks, the first block of the thread that copies it.
    blocks: Vec<usize>,
    /// Where it returns to; `None`: it is the thread itself.
    back: Option<Back>,
    /// What it returns.
    returned: Vec<Value>,
}
