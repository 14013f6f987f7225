//! Values and instructions under the names that they have in the thread.

use super::{Frame, Inliner};
use crate::ir::code::Object;
use crate::ir::module::{Op, Value};

impl Inliner<'_> {
    /// A value with its number in the thread, and symbols replaced by objects.
    pub(super) fn value(&self, frame: &Frame, value: &Value) -> Value {
        let object = |symbol: &u32| -> Object { self.code.object(frame.id.file, *symbol) };
        match value {
            Value::Local(local) => Value::Local(frame.first + local),
            Value::Address(symbol, offset) => {
                let (object, offset) = self.code.address(frame.id.file, *symbol, *offset);
                Value::Address(object, offset)
            }
            Value::Int(number) => Value::Int(*number),
            Value::Constant(symbols) => Value::Constant(symbols.iter().map(object).collect()),
        }
    }

    /// An instruction with such values.
    pub(super) fn op(&self, frame: &Frame, op: &Op) -> Op {
        let value = |v: &Value| self.value(frame, v);
        let values = |vs: &[Value]| vs.iter().map(value).collect::<Vec<_>>();
        match op {
            Op::Load { pointer, size, order, volatile } => {
                Op::Load { pointer: value(pointer), size: *size, order: *order, volatile: *volatile }
            }
            Op::Store { value: what, pointer, size, order, volatile } => Op::Store {
                value: value(what),
                pointer: value(pointer),
                size: *size,
                order: *order,
                volatile: *volatile,
            },
            Op::Rmw { pointer, value: what, size, order, idempotent, loops } => Op::Rmw {
                pointer: value(pointer),
                value: value(what),
                size: *size,
                order: *order,
                idempotent: *idempotent,
                loops: *loops,
            },
            Op::CompareExchange { pointer, expected, new, size, success, failure, weak } => {
                Op::CompareExchange {
                    pointer: value(pointer),
                    expected: value(expected),
                    new: value(new),
                    size: *size,
                    success: *success,
                    failure: *failure,
                    weak: *weak,
                }
            }
            Op::Gep { base, offset, indices, of } => Op::Gep {
                base: value(base),
                offset: *offset,
                indices: indices.iter().map(|local| frame.first + local).collect(),
                of: of.clone(),
            },
            Op::Copy(from) => Op::Copy(value(from)),
            Op::Phi(incoming) => Op::Phi(incoming.iter().map(|(from, _)| (value(from), 0)).collect()),
            Op::Select(condition, yes, no) => Op::Select(value(condition), value(yes), value(no)),
            Op::Compare(how, a, b) => Op::Compare(how.clone(), value(a), value(b)),
            Op::Extract(from, indices) => Op::Extract(value(from), indices.clone()),
            Op::Compute(from) => Op::Compute(values(from)),
            Op::Unknown(name, from) => Op::Unknown(name.clone(), values(from)),
            Op::Fence(order) => Op::Fence(*order),
            // Calls and ends are copied where control flow is.
            Op::Alloca | Op::Call(_) | Op::Terminator(_) => Op::Alloca,
        }
    }
}
