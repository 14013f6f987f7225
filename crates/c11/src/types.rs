//! Types of C, as far as libraries need them.

use crate::code::Integer;

/// A type with the qualifiers that matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Type {
    /// What it is.
    pub kind: Kind,
    /// `_Atomic`?
    pub is_atomic: bool,
    /// `const`?
    pub is_const: bool,
}

/// What a type is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `void`.
    Void,
    /// `_Bool`.
    Bool,
    /// Integers and enumerations.
    Int {
        /// Size in bytes.
        bytes: u8,
        /// Signed?
        signed: bool,
    },
    /// A pointer.
    Pointer(Box<Type>),
    /// An array, with its length if known.
    Array(Box<Type>, Option<u64>),
    /// A struct: index into [`Structs`].
    Struct(usize),
    /// A function.
    Function,
}

impl Kind {
    /// The numbers that fit into an object, if it holds one: `_Bool` has 0 and 1, a pointer is a signed number.
    pub fn integer(&self) -> Option<Integer> {
        match self {
            Kind::Bool => Some(Integer::BOOL),
            Kind::Int { bytes, signed } => Some(Integer { bits: 8 * bytes, signed: *signed }),
            Kind::Pointer(_) => Some(Integer::LONG),
            _ => None,
        }
    }
}

impl Type {
    /// Without qualifiers.
    pub fn plain(kind: Kind) -> Self {
        Type { kind, is_atomic: false, is_const: false }
    }

    /// `int`.
    pub fn int() -> Self {
        Type::plain(Kind::Int { bytes: 4, signed: true })
    }

    /// `size_t`.
    pub fn size() -> Self {
        Type::plain(Kind::Int { bytes: 8, signed: false })
    }

    /// `ptrdiff_t`.
    pub fn difference() -> Self {
        Type::plain(Kind::Int { bytes: 8, signed: true })
    }

    /// `void *`.
    pub fn void_pointer() -> Self {
        Type::plain(Kind::Void).pointer()
    }

    /// A pointer to this.
    pub fn pointer(self) -> Self {
        Type::plain(Kind::Pointer(Box::new(self)))
    }

    /// The type of the value that is in an object of this type.
    pub fn unqualified(&self) -> Self {
        Type::plain(self.kind.clone())
    }

    /// What a pointer points to.
    pub fn pointee(&self) -> Option<&Type> {
        match &self.kind {
            Kind::Pointer(to) => Some(to),
            _ => None,
        }
    }

    /// A number or a pointer?
    pub fn is_scalar(&self) -> bool {
        matches!(self.kind, Kind::Bool | Kind::Int { .. } | Kind::Pointer(_))
    }

    /// The struct that this is or points to.
    pub fn struct_pointee(&self) -> Option<usize> {
        match self.pointee()?.kind {
            Kind::Struct(s) => Some(s),
            _ => None,
        }
    }
}

/// A struct.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its tag, or the name of its typedef, or `%1`.
    pub name: String,
    /// Its fields; none before it is defined.
    pub fields: Option<Vec<(String, Type)>>,
}

/// All structs.
#[derive(Clone, Debug, Default)]
pub struct Structs(pub Vec<Struct>);

impl Structs {
    /// The type of a field.
    pub fn field(&self, of: usize, name: &str) -> Option<&Type> {
        self.0[of].fields.as_ref()?.iter().find(|(n, _)| n == name).map(|(_, t)| t)
    }

    /// `sizeof` and alignment on the usual 64-bit machines.
    pub fn size(&self, of: &Type) -> Option<(u64, u64)> {
        Some(match &of.kind {
            Kind::Void | Kind::Function => return None,
            Kind::Bool => (1, 1),
            Kind::Int { bytes, .. } => (u64::from(*bytes), u64::from(*bytes)),
            Kind::Pointer(_) => (8, 8),
            Kind::Array(of, length) => {
                let (size, align) = self.size(of)?;
                (size.checked_mul((*length)?)?, align)
            }
            Kind::Struct(s) => {
                let (mut end, mut most) = (0u64, 1);
                for (_, field) in self.0[*s].fields.as_ref()? {
                    let (size, align) = self.size(field)?;
                    end = end.checked_next_multiple_of(align)?.checked_add(size)?;
                    most = most.max(align);
                }
                (end.checked_next_multiple_of(most)?, most)
            }
        })
    }

    /// As people write it.
    pub fn show(&self, of: &Type) -> String {
        let show = match &of.kind {
            Kind::Void => "void".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Int { bytes, signed } => {
                let name = match bytes {
                    1 => "char",
                    2 => "short",
                    4 => "int",
                    _ => "long",
                };
                format!("{}{name}", if *signed { "" } else { "unsigned " })
            }
            Kind::Pointer(to) => format!("{} *", self.show(to).trim_end()),
            Kind::Array(of, Some(n)) => format!("{}[{n}]", self.show(of)),
            Kind::Array(of, None) => format!("{}[]", self.show(of)),
            Kind::Struct(s) if self.0[*s].name.starts_with('%') => "struct { … }".to_owned(),
            Kind::Struct(s) => format!("struct {}", self.0[*s].name),
            Kind::Function => "a function".to_owned(),
        };
        if of.is_atomic { format!("_Atomic({show})") } else { show }
    }
}
