//! What a function does, from its instructions.
//!
//! The instructions are walked once, with what is known of each value in place of the value. Functions of the script that are called are
//! walked where they are called.

use rune::alloc::String as RuneString;
use rune::{Hash, ItemBuf, Value};

use super::instructions::{Address, Call, Constant, Instruction, Instructions, UnitFunction, Variant};
use super::{CYCLE, MOST_ARGUMENTS, Operation, Request};

/// A function as operations.
pub(super) struct Trace<'a> {
    instructions: &'a Instructions,
    pub(super) operations: Vec<Operation>,
    pub(super) registers: Vec<Value>,
    pub(super) request: Option<Request>,
    /// Futures that were made, and those of them that are not yet awaited.
    futures: usize,
    open: Vec<usize>,
}

/// What is known of a value.
#[derive(Debug, Clone, PartialEq)]
enum Known {
    /// `ctx`.
    Context,
    /// A number, or what a pure function gives.
    Register(usize),
    /// A text that the script has in it.
    Text(usize, String),
    Unit,
    List(Vec<Known>),
    Object(Vec<String>, Vec<Known>),
    /// `Ok(…)`.
    Good,
    /// What came of the request.
    Answer,
    /// A future by its number, and what it will give.
    Future(usize, Box<Known>),
}

/// Calls within calls that are walked.
const DEEPEST: usize = 8;
/// Instructions that are walked.
const LONGEST: usize = 1000;

impl<'a> Trace<'a> {
    /// Walks through a function that gets the context and the cycle's number.
    pub(super) fn of(instructions: &'a Instructions, hash: u64) -> Option<Self> {
        let UnitFunction::Offset {
            offset,
            args: 2,
            captures: None,
            call: Call::Async | Call::Immediate,
        } = instructions.function(hash)?
        else {
            return None;
        };
        let mut trace = Self {
            instructions,
            operations: Vec::new(),
            registers: vec![Value::from(0_i64)],
            request: None,
            futures: 0,
            open: Vec::new(),
        };
        let returned = trace.walk(offset, vec![Known::Context, Known::Register(CYCLE)], 0)?;
        if returned == Known::Answer {
            trace.heed()?;
        }
        // What nobody awaits is not done.
        trace.open.is_empty().then_some(trace)
    }

    /// Walks from an offset to the function's end, and says what it gives.
    fn walk(&mut self, offset: usize, mut frame: Vec<Known>, depth: usize) -> Option<Known> {
        if depth > DEEPEST {
            return None;
        }
        for index in offset..offset + LONGEST {
            let at = |frame: &[Known], register: usize| frame.get(register).cloned();
            let run = |frame: &[Known], register: usize, count: usize| {
                // None of them are nowhere.
                let registers = if count == 0 {
                    0..0
                } else {
                    register..register.checked_add(count)?
                };
                Some(frame.get(registers)?.to_vec())
            };
            let (known, out) = match self.instructions.at(index)? {
                Instruction::Allocate {} | Instruction::Drop {} => continue,
                Instruction::Return { addr } => return at(&frame, addr.offset),
                Instruction::ReturnUnit => return Some(Known::Unit),
                Instruction::Store { value, out } => (self.constant(value), out),
                Instruction::String { slot, out } => {
                    let text = self.instructions.string(slot)?.to_owned();
                    let value = Value::new(RuneString::try_from(text.as_str()).ok()?).ok()?;
                    (Known::Text(self.register(value), text), out)
                }
                Instruction::Copy { addr, out } | Instruction::Move { addr, out } => (at(&frame, addr.offset)?, out),
                Instruction::Arithmetic { op, a, b, out } => {
                    let (a, b) = (number(&at(&frame, a.offset)?)?, number(&at(&frame, b.offset)?)?);
                    let operation = |out| Operation::Arithmetic { op, a, b, out };
                    (self.operation(operation)?, out)
                }
                Instruction::Vec { addr, count, out } | Instruction::Tuple { addr, count, out } => {
                    (Known::List(run(&frame, addr.offset, count)?), out)
                }
                Instruction::ShortTuple { addr, out } => (several(&frame, &addr)?, out),
                Instruction::Object { addr, slot, out } => {
                    let keys = self.instructions.object_keys(slot)?.to_vec();
                    let values = run(&frame, addr.offset, keys.len())?;
                    (Known::Object(keys, values), out)
                }
                Instruction::Call { hash, addr, args, out } => {
                    let arguments = run(&frame, addr.offset, args)?;
                    let known = match self.instructions.function(hash) {
                        Some(UnitFunction::Offset {
                            offset,
                            call,
                            args: expected,
                            captures: None,
                        }) if args == expected => self.inner(offset, call, arguments, depth)?,
                        Some(_) => return None,
                        None => self.call(Hash::new(hash), &arguments)?,
                    };
                    (known, out)
                }
                Instruction::CallOffset {
                    offset,
                    call,
                    addr,
                    args,
                    out,
                } => {
                    let arguments = run(&frame, addr.offset, args)?;
                    (self.inner(offset, call, arguments, depth)?, out)
                }
                Instruction::CallAssociated { hash, addr, args, out } => {
                    let arguments = run(&frame, addr.offset, args)?;
                    (self.call_method(Hash::new(hash), arguments)?, out)
                }
                Instruction::Await { addr, out } => {
                    let Known::Future(number, known) = at(&frame, addr.offset)? else {
                        return None;
                    };
                    let open = self.open.iter().position(|open| *open == number)?;
                    self.open.swap_remove(open);
                    (*known, out)
                }
                Instruction::Try { addr, out } => {
                    match at(&frame, addr.offset)? {
                        Known::Answer => self.heed()?,
                        Known::Good => {}
                        _ => return None,
                    }
                    // In a function that is called, the failure goes to the caller, who has to heed it too.
                    if depth > 0 {
                        return None;
                    }
                    (Known::Unit, out)
                }
                Instruction::Variant { addr, variant, out } => match (variant, at(&frame, addr.offset)) {
                    (Variant::Ok, Some(Known::Unit)) => (Known::Good, out),
                    _ => return None,
                },
            };
            if let Some(register) = out.register() {
                if frame.len() <= register {
                    frame.resize(register + 1, Known::Unit);
                }
                frame[register] = known;
            }
        }
        None
    }

    /// A call of a function of the script.
    fn inner(&mut self, offset: usize, call: Call, arguments: Vec<Known>, depth: usize) -> Option<Known> {
        let known = self.walk(offset, arguments, depth + 1)?;
        match call {
            Call::Immediate => Some(known),
            Call::Async => Some(self.future(known)),
            Call::Other => None,
        }
    }

    fn call(&mut self, hash: Hash, arguments: &[Known]) -> Option<Known> {
        let is = |name: &str, path: &[&str]| {
            ItemBuf::with_crate_item(name, path).is_ok_and(|item| Hash::type_hash(&item) == hash)
        };
        if let ([Known::Unit | Known::Register(_)], true) = (arguments, is("std", &OK)) {
            return Some(Known::Good);
        }
        let pure = PURE.iter().any(|function| is("latte", &[function])) || OPTIONS.iter().any(|path| is("std", path));
        let arguments = registers(arguments)?;
        if !pure || arguments.len() > MOST_ARGUMENTS {
            return None;
        }
        self.operation(|out| Operation::Call { hash, arguments, out })
    }

    fn call_method(&mut self, name: Hash, arguments: Vec<Known>) -> Option<Known> {
        if let [Known::Context, Known::Text(_, key), parameters] = arguments.as_slice() {
            // One request, and nothing after it that could fail.
            if name != Hash::ident("execute_prepared") || self.request.is_some() {
                return None;
            }
            let (names, parameters) = match parameters {
                Known::List(values) => (None, registers(values)?),
                Known::Object(keys, values) => (Some(keys.clone()), registers(values)?),
                Known::Unit => (None, Vec::new()),
                _ => return None,
            };
            self.request = Some(Request {
                key: key.clone(),
                names,
                parameters,
                is_heeded: false,
            });
            return Some(self.future(Known::Answer));
        }
        let arguments = registers(&arguments)?;
        if !PURE_METHODS.iter().any(|method| Hash::ident(method) == name) || arguments.len() > MOST_ARGUMENTS {
            return None;
        }
        self.operation(|out| Operation::CallMethod { name, arguments, out })
    }

    fn future(&mut self, known: Known) -> Known {
        self.futures += 1;
        self.open.push(self.futures);
        Known::Future(self.futures, Box::new(known))
    }

    fn heed(&mut self) -> Option<()> {
        self.request.as_mut()?.is_heeded = true;
        Some(())
    }

    /// Adds what is done before the request. What would be done after it may fail when the request was sent already.
    fn operation(&mut self, operation: impl FnOnce(usize) -> Operation) -> Option<Known> {
        if self.request.is_some() {
            return None;
        }
        let out = self.register(Value::empty());
        self.operations.push(operation(out));
        Some(Known::Register(out))
    }

    fn register(&mut self, value: Value) -> usize {
        self.registers.push(value);
        self.registers.len() - 1
    }

    fn constant(&mut self, constant: Constant) -> Known {
        let value = match constant {
            Constant::Unit => return Known::Unit,
            Constant::Bool(value) => Value::from(value),
            Constant::Integer(value) => Value::from(value),
            Constant::Float(value) => Value::from(value),
        };
        Known::Register(self.register(value))
    }
}

fn several(frame: &[Known], registers: &[Address]) -> Option<Known> {
    let items = registers.iter().map(|register| frame.get(register.offset).cloned());
    items.collect::<Option<Vec<_>>>().map(Known::List)
}

fn number(known: &Known) -> Option<usize> {
    match known {
        Known::Register(register) => Some(*register),
        _ => None,
    }
}

/// The registers of values that an operation or a request takes.
fn registers(all: &[Known]) -> Option<Vec<usize>> {
    let register = |known: &Known| match known {
        Known::Register(register) | Known::Text(register, _) => Some(*register),
        _ => None,
    };
    all.iter().map(register).collect()
}

/// Functions of `latte::` that give the same for the same arguments, and call nothing of the script.
const PURE: [&str; 13] = [
    "blob",
    "hash",
    "hash2",
    "hash_range",
    "is_none",
    "normal",
    "normal_f32",
    "normal_vec",
    "text",
    "uniform",
    "uniform_vec",
    "uuid",
    "target",
];
/// What makes `Ok(…)`.
const OK: [&str; 3] = ["result", "Result", "Ok"];
/// What makes options.
const OPTIONS: [[&str; 3]; 2] = [["option", "Option", "Some"], ["option", "Option", "None"]];
/// Methods of numbers of which the same is true.
const PURE_METHODS: [&str; 5] = ["clamp", "to_f32", "to_i16", "to_i32", "to_i8"];
