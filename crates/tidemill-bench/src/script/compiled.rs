//! Functions of the common shape, run without a machine.
//!
//! What most workloads do is `ctx.execute_prepared(KEY, [expressions]).await?`, or nothing at all. Such a function becomes a list of
//! operations over the cycle's number: arithmetic, and the functions of `latte::` that give the same for the same arguments. Whatever
//! goes wrong in it (an overflow, a length that is too long) is left to the machine, which runs the call from its beginning and says
//! what is wrong and on which line.
//!
//! Not here: branches, loops, `ctx.data`, more than one request, closures.

mod instructions;
mod trace;

use std::fmt;
use std::sync::Arc;

use rune::alloc::limit;
use rune::runtime::{InstAddress, Memory, Output, VmResult};
use rune::{Hash, Value};
use serde::Deserialize as _;
use serde::de::IntoDeserializer;
use serde::de::value::Error as NumberError;

use super::{Function, Program};
use crate::target::Parameters;
use instructions::{Arithmetic, Instructions};
use trace::Trace;

/// A function without branches that makes at most one request.
pub(crate) struct Compiled {
    operations: Vec<Operation>,
    /// The cycle's number, constants, and what operations give.
    registers: Vec<Value>,
    request: Option<Request>,
    /// The parameters of the last evaluation.
    parameters: Vec<Value>,
    natives: Arc<rune::runtime::RuntimeContext>,
    result: Output,
    memory: usize,
}

/// The request of a function.
#[derive(Debug, Clone, PartialEq)]
struct Request {
    key: String,
    /// The names of the parameters, when they are given by name.
    names: Option<Vec<String>>,
    /// The registers of the parameters.
    parameters: Vec<usize>,
    /// Whether the function fails when the request does.
    is_heeded: bool,
}

/// One step. Registers are written once.
#[derive(Debug, Clone, PartialEq)]
enum Operation {
    Arithmetic {
        op: Arithmetic,
        a: usize,
        b: usize,
        out: usize,
    },
    /// A function of the context.
    Call {
        hash: Hash,
        arguments: Vec<usize>,
        out: usize,
    },
    /// A method of the first argument.
    CallMethod {
        name: Hash,
        arguments: Vec<usize>,
        out: usize,
    },
}

/// The register of the cycle's number.
const CYCLE: usize = 0;
/// More arguments than a pure function has.
const MOST_ARGUMENTS: usize = 8;

impl Program {
    /// The function without a machine, when it has the shape for it.
    pub(crate) fn compile(&self, function: &Function) -> Option<Compiled> {
        let instructions = Instructions::of(&self.unit)?;
        let trace = Trace::of(&instructions, function.hash.into_inner())?;
        let result = Output::deserialize(IntoDeserializer::<NumberError>::into_deserializer(0_usize)).ok()?;
        Some(Compiled {
            operations: trace.operations,
            registers: trace.registers,
            request: trace.request,
            parameters: Vec::new(),
            natives: Arc::clone(&self.runtime),
            result,
            memory: self.limits.memory,
        })
    }
}

impl Compiled {
    /// The key of the statement that it asks with, when it asks.
    pub(crate) fn key(&self) -> Option<&str> {
        self.request.as_ref().map(|request| request.key.as_str())
    }

    /// Whether the function fails when its request does.
    pub(crate) fn is_heeded(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.is_heeded)
    }

    /// Computes the parameters of a cycle's request; there are none when it makes no request. `None` when the machine has to run it.
    #[inline]
    pub(crate) fn evaluate(&mut self, cycle: i64) -> Option<Parameters<'_>> {
        self.registers[CYCLE] = Value::from(cycle);
        if !self.operations.is_empty() {
            // What a machine may hold.
            limit::with(self.memory, || self.operate()).call()?;
        }
        let Some(request) = &self.request else {
            return Some(Parameters::List(&[]));
        };
        self.parameters.clear();
        let values = request
            .parameters
            .iter()
            .map(|register| self.registers[*register].clone());
        self.parameters.extend(values);
        Some(match &request.names {
            Some(names) => Parameters::Named(names, &self.parameters),
            None => Parameters::List(&self.parameters),
        })
    }

    fn operate(&mut self) -> Option<()> {
        for operation in &self.operations {
            let (value, out) = match operation {
                Operation::Arithmetic { op, a, b, out } => {
                    (compute(*op, &self.registers[*a], &self.registers[*b])?, *out)
                }
                Operation::Call { hash, arguments, out } => (
                    call(&self.natives, *hash, arguments, &self.registers, self.result)?,
                    *out,
                ),
                Operation::CallMethod { name, arguments, out } => {
                    let instance = self.registers.get(*arguments.first()?)?;
                    let hash = Hash::associated_function(instance.type_hash(), *name);
                    (
                        call(&self.natives, hash, arguments, &self.registers, self.result)?,
                        *out,
                    )
                }
            };
            self.registers[out] = value;
        }
        Some(())
    }
}

/// Whole numbers with whole numbers, floats with floats. What overflows is the machine's to tell.
#[inline]
fn compute(op: Arithmetic, a: &Value, b: &Value) -> Option<Value> {
    if let (Ok(a), Ok(b)) = (a.as_signed(), b.as_signed()) {
        return Some(Value::from(match op {
            Arithmetic::Add => a.checked_add(b)?,
            Arithmetic::Sub => a.checked_sub(b)?,
            Arithmetic::Mul => a.checked_mul(b)?,
            Arithmetic::Div => a.checked_div(b)?,
            Arithmetic::Rem => a.checked_rem(b)?,
        }));
    }
    let (a, b) = (a.as_float().ok()?, b.as_float().ok()?);
    Some(Value::from(match op {
        Arithmetic::Add => a + b,
        Arithmetic::Sub => a - b,
        Arithmetic::Mul => a * b,
        Arithmetic::Div => a / b,
        Arithmetic::Rem => a % b,
    }))
}

fn call(
    natives: &rune::runtime::RuntimeContext,
    hash: Hash,
    arguments: &[usize],
    registers: &[Value],
    result: Output,
) -> Option<Value> {
    let handler = natives.function(&hash)?;
    let mut frame: [Value; MOST_ARGUMENTS] = [const { Value::empty() }; MOST_ARGUMENTS];
    for (slot, argument) in frame.iter_mut().zip(arguments) {
        *slot = registers[*argument].clone();
    }
    match handler(
        &mut frame as &mut dyn Memory,
        InstAddress::ZERO,
        arguments.len(),
        result,
    ) {
        VmResult::Ok(()) => {
            let [value, ..] = frame;
            Some(value)
        }
        VmResult::Err(_) => None,
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("operations", &self.operations)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
