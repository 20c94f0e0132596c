//! The instructions of a compiled script, as far as they are read here.
//!
//! Rune shows a unit's instructions only by serialising it, which it offers so that units can be kept. What of them is not known here
//! makes a function that the machine runs.

use std::collections::HashMap;

use rune::Unit;
use serde::Deserialize;
use serde_json::Value as Json;

/// The parts of a unit that functions are made of.
#[derive(Debug, Deserialize)]
pub(super) struct Instructions {
    storage: Storage,
    functions: HashMap<String, UnitFunction>,
    static_strings: Vec<StaticString>,
    static_object_keys: Vec<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct Storage {
    instructions: Vec<Json>,
}

#[derive(Debug, Deserialize)]
struct StaticString {
    inner: String,
}

/// A function of the script.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) enum UnitFunction {
    /// It begins at an offset.
    Offset {
        offset: usize,
        call: Call,
        args: usize,
        captures: Option<usize>,
    },
    #[serde(untagged)]
    Other(serde::de::IgnoredAny),
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Call {
    /// It gives a future.
    Async,
    /// It runs at once.
    Immediate,
    #[serde(other)]
    Other,
}

/// A register of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Address {
    pub(super) offset: usize,
}

/// Where a value goes: a register, or nowhere.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(super) struct Output(usize);

impl Output {
    pub(super) fn register(self) -> Option<usize> {
        (self.0 != usize::MAX).then_some(self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// A constant of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) enum Constant {
    Unit,
    Bool(bool),
    Integer(i64),
    Float(f64),
}

/// The instructions that are known.
#[derive(Debug, Clone, Deserialize)]
pub(super) enum Instruction {
    Allocate {},
    Drop {},
    Store {
        value: Constant,
        out: Output,
    },
    String {
        slot: usize,
        out: Output,
    },
    Copy {
        addr: Address,
        out: Output,
    },
    Move {
        addr: Address,
        out: Output,
    },
    Arithmetic {
        op: Arithmetic,
        a: Address,
        b: Address,
        out: Output,
    },
    Vec {
        addr: Address,
        count: usize,
        out: Output,
    },
    Tuple {
        addr: Address,
        count: usize,
        out: Output,
    },
    /// A tuple of registers that lie anywhere.
    #[serde(rename = "Tuple1", alias = "Tuple2", alias = "Tuple3", alias = "Tuple4")]
    ShortTuple {
        addr: Vec<Address>,
        out: Output,
    },
    Object {
        addr: Address,
        slot: usize,
        out: Output,
    },
    Call {
        hash: u64,
        addr: Address,
        args: usize,
        out: Output,
    },
    CallOffset {
        offset: usize,
        call: Call,
        addr: Address,
        args: usize,
        out: Output,
    },
    CallAssociated {
        hash: u64,
        addr: Address,
        args: usize,
        out: Output,
    },
    Await {
        addr: Address,
        out: Output,
    },
    Try {
        addr: Address,
        out: Output,
    },
    Variant {
        addr: Address,
        variant: Variant,
        out: Output,
    },
    Return {
        addr: Address,
    },
    ReturnUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Variant {
    Some,
    None,
    Ok,
    Err,
}

impl Instructions {
    /// Those of a unit, when they have the form that is known here.
    pub(super) fn of(unit: &Unit) -> Option<Self> {
        serde_json::from_value(serde_json::to_value(unit.logic()).ok()?).ok()
    }

    pub(super) fn function(&self, hash: u64) -> Option<UnitFunction> {
        self.functions.get(&hash.to_string()).copied()
    }

    /// The instruction at an index, when it is a known one.
    pub(super) fn at(&self, index: usize) -> Option<Instruction> {
        Instruction::deserialize(self.storage.instructions.get(index)?).ok()
    }

    pub(super) fn string(&self, slot: usize) -> Option<&str> {
        self.static_strings.get(slot).map(|string| string.inner.as_str())
    }

    pub(super) fn object_keys(&self, slot: usize) -> Option<&[String]> {
        self.static_object_keys.get(slot).map(Vec::as_slice)
    }
}
