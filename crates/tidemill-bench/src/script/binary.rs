//! Files of bytes: `fs::open_binary`, as Latte's fork has it.
//!
//! A file is read from where it stands: at first from its beginning, then after what was read, or from where `seek` and `skip` put it. Cycles
//! of a worker that share a file share its position, so what belongs together is read without an `.await` in between.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom};

use rune::runtime::{Bytes, Mut, VmResult};
use rune::{Any, ContextError, Module, Value};

use super::files::Files;

/// The orders of bytes, as scripts name them: `fs::LE` and `fs::BE`.
pub(super) const LITTLE_ENDIAN: &str = "LE";
pub(super) const BIG_ENDIAN: &str = "BE";

/// An open file.
#[derive(Debug, Any)]
#[rune(item = ::fs)]
pub(super) struct BinaryFile {
    name: String,
    reader: BufReader<File>,
    length: u64,
    position: u64,
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Order {
    Little,
    Big,
}

pub(super) fn install(module: &mut Module) -> Result<(), ContextError> {
    module.ty::<BinaryFile>()?;
    module.function_meta(BinaryFile::len)?;
    module.function_meta(BinaryFile::position)?;
    module.function_meta(BinaryFile::seek)?;
    module.function_meta(BinaryFile::skip)?;
    module.function_meta(BinaryFile::read_bytes)?;
    module.function_meta(BinaryFile::read_u8)?;
    module.function_meta(BinaryFile::read_u16)?;
    module.function_meta(BinaryFile::read_i32)?;
    module.function_meta(BinaryFile::read_u32)?;
    module.function_meta(BinaryFile::read_i64)?;
    module.function_meta(BinaryFile::read_f32)?;
    module.function_meta(BinaryFile::read_f64)?;
    module.function_meta(BinaryFile::read_i32_vec)?;
    module.function_meta(BinaryFile::read_u32_vec)?;
    module.function_meta(BinaryFile::read_f32_vec)?;
    module.function_meta(BinaryFile::read_f64_vec)?;
    Ok(())
}

impl BinaryFile {
    /// Opens a file that the script may read.
    pub(super) fn open(files: &Files, name: &str) -> io::Result<Self> {
        let file = files.open(name)?;
        let length = file.metadata()?.len();
        Ok(Self {
            name: name.to_owned(),
            reader: BufReader::new(file),
            length,
            position: 0,
        })
    }

    /// Its length in bytes, when it was opened.
    #[rune::function(instance, path = Self::len)]
    fn len(&self) -> i64 {
        i64::try_from(self.length).unwrap_or(i64::MAX)
    }

    /// The byte that is read next, from 0.
    #[rune::function(instance, path = Self::position)]
    fn position(&self) -> i64 {
        i64::try_from(self.position).unwrap_or(i64::MAX)
    }

    /// Goes to a byte, from 0 to the length.
    #[rune::function(instance, path = Self::seek)]
    fn seek(mut this: Mut<Self>, offset: i64) -> io::Result<()> {
        let found = u64::try_from(offset).ok().filter(|offset| *offset <= this.length);
        let target = found.ok_or_else(|| this.wrong(&format!("byte {offset} is not in its {} bytes", this.length)))?;
        this.go(target)
    }

    /// Leaves bytes out; goes back by fewer than none.
    #[rune::function(instance, path = Self::skip)]
    fn skip(mut this: Mut<Self>, bytes: i64) -> io::Result<()> {
        let target = this
            .position
            .checked_add_signed(bytes)
            .filter(|target| *target <= this.length);
        let target = target.ok_or_else(|| {
            let (at, length) = (this.position, this.length);
            this.wrong(&format!("{bytes} bytes from byte {at} is not in its {length} bytes"))
        })?;
        this.go(target)
    }

    /// So many bytes.
    #[rune::function(instance, path = Self::read_bytes)]
    fn read_bytes(mut this: Mut<Self>, count: i64) -> VmResult<io::Result<Bytes>> {
        let length = match this.checked_size(count, 1) {
            Ok(length) => length,
            Err(error) => return VmResult::Ok(Err(error)),
        };
        let mut bytes = rune::alloc::Vec::new();
        // Counted by the limit of memory that a call has.
        if let Err(error) = bytes.try_resize(length, 0) {
            return VmResult::err(error);
        }
        VmResult::Ok(this.fill(&mut bytes).map(|()| Bytes::from_vec(bytes)))
    }

    /// A byte.
    #[rune::function(instance, path = Self::read_u8)]
    fn read_u8(mut this: Mut<Self>) -> io::Result<i64> {
        this.array::<1>().map(|[byte]| i64::from(byte))
    }

    /// A number of 16 bits in `fs::LE` or `fs::BE`, as all below.
    #[rune::function(instance, path = Self::read_u16)]
    fn read_u16(mut this: Mut<Self>, order: &str) -> io::Result<i64> {
        let order = this.order(order)?;
        this.array()
            .map(|bytes| i64::from(u16::from_le_bytes(order.little(bytes))))
    }

    /// A number of 32 bits.
    #[rune::function(instance, path = Self::read_i32)]
    fn read_i32(mut this: Mut<Self>, order: &str) -> io::Result<i64> {
        let order = this.order(order)?;
        this.array().map(|bytes| i32_of(order, bytes))
    }

    /// A number of 32 bits that is never negative.
    #[rune::function(instance, path = Self::read_u32)]
    fn read_u32(mut this: Mut<Self>, order: &str) -> io::Result<i64> {
        let order = this.order(order)?;
        this.array().map(|bytes| u32_of(order, bytes))
    }

    /// A number of 64 bits.
    #[rune::function(instance, path = Self::read_i64)]
    fn read_i64(mut this: Mut<Self>, order: &str) -> io::Result<i64> {
        let order = this.order(order)?;
        this.array().map(|bytes| i64::from_le_bytes(order.little(bytes)))
    }

    /// A float of 32 bits.
    #[rune::function(instance, path = Self::read_f32)]
    fn read_f32(mut this: Mut<Self>, order: &str) -> io::Result<f64> {
        let order = this.order(order)?;
        this.array().map(|bytes| f32_of(order, bytes))
    }

    /// A float of 64 bits.
    #[rune::function(instance, path = Self::read_f64)]
    fn read_f64(mut this: Mut<Self>, order: &str) -> io::Result<f64> {
        let order = this.order(order)?;
        this.array().map(|bytes| f64_of(order, bytes))
    }

    /// So many of [`Self::read_i32`].
    #[rune::function(instance, path = Self::read_i32_vec)]
    fn read_i32_vec(mut this: Mut<Self>, order: &str, count: i64) -> VmResult<io::Result<Value>> {
        this.list(order, count, |order, bytes| Value::from(i32_of(order, bytes)))
    }

    /// So many of [`Self::read_u32`].
    #[rune::function(instance, path = Self::read_u32_vec)]
    fn read_u32_vec(mut this: Mut<Self>, order: &str, count: i64) -> VmResult<io::Result<Value>> {
        this.list(order, count, |order, bytes| Value::from(u32_of(order, bytes)))
    }

    /// So many of [`Self::read_f32`].
    #[rune::function(instance, path = Self::read_f32_vec)]
    fn read_f32_vec(mut this: Mut<Self>, order: &str, count: i64) -> VmResult<io::Result<Value>> {
        this.list(order, count, |order, bytes| Value::from(f32_of(order, bytes)))
    }

    /// So many of [`Self::read_f64`].
    #[rune::function(instance, path = Self::read_f64_vec)]
    fn read_f64_vec(mut this: Mut<Self>, order: &str, count: i64) -> VmResult<io::Result<Value>> {
        this.list(order, count, |order, bytes| Value::from(f64_of(order, bytes)))
    }

    fn go(&mut self, target: u64) -> io::Result<()> {
        let gone = match i64::try_from(i128::from(target) - i128::from(self.position)) {
            // What is in the buffer stays there.
            Ok(distance) => self.reader.seek_relative(distance),
            Err(_) => self.reader.seek(SeekFrom::Start(target)).map(drop),
        };
        gone.map_err(|error| self.about(&error))?;
        self.position = target;
        Ok(())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.reader.read_exact(bytes).map_err(|error| self.about(&error))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn array<const SIZE: usize>(&mut self) -> io::Result<[u8; SIZE]> {
        self.checked_size(1, SIZE)?;
        let mut bytes = [0; SIZE];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn list<const SIZE: usize>(
        &mut self,
        order: &str,
        count: i64,
        value: impl Fn(Order, [u8; SIZE]) -> Value,
    ) -> VmResult<io::Result<Value>> {
        let checked = self
            .order(order)
            .and_then(|order| Ok((order, self.checked_size(count, SIZE)?)));
        let (order, length) = match checked {
            Ok(checked) => checked,
            Err(error) => return VmResult::Ok(Err(error)),
        };
        let mut list = rune::alloc::Vec::new();
        if let Err(error) = list.try_reserve_exact(length / SIZE) {
            return VmResult::err(error);
        }
        for _ in 0..length / SIZE {
            let mut bytes = [0; SIZE];
            if let Err(error) = self.fill(&mut bytes) {
                return VmResult::Ok(Err(error));
            }
            if let Err(error) = list.try_push(value(order, bytes)) {
                return VmResult::err(error);
            }
        }
        match Value::vec(list) {
            Ok(list) => VmResult::Ok(Ok(list)),
            Err(error) => VmResult::err(error),
        }
    }

    /// The size in bytes of `count` values of `size` bytes, if that many bytes are left.
    fn checked_size(&self, count: i64, size: usize) -> io::Result<usize> {
        let wanted = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
        let left = self.length.saturating_sub(self.position);
        match wanted {
            Some(wanted) if u64::try_from(wanted).is_ok_and(|wanted| wanted <= left) => Ok(wanted),
            _ => {
                let what = format!(
                    "expected {count} values of {size} bytes at byte {}, found {left} bytes",
                    self.position
                );
                Err(io::Error::new(
                    ErrorKind::UnexpectedEof,
                    format!("{}: {what}", self.name),
                ))
            }
        }
    }

    fn order(&self, name: &str) -> io::Result<Order> {
        if name.eq_ignore_ascii_case(LITTLE_ENDIAN) {
            Ok(Order::Little)
        } else if name.eq_ignore_ascii_case(BIG_ENDIAN) {
            Ok(Order::Big)
        } else {
            Err(self.wrong(&format!("an order of bytes is fs::LE or fs::BE, found {name:?}")))
        }
    }

    fn wrong(&self, what: &str) -> io::Error {
        io::Error::new(ErrorKind::InvalidInput, format!("{}: {what}", self.name))
    }

    fn about(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: byte {}: {error}", self.name, self.position))
    }
}

impl Order {
    fn little<const SIZE: usize>(self, mut bytes: [u8; SIZE]) -> [u8; SIZE] {
        if self == Self::Big {
            bytes.reverse();
        }
        bytes
    }
}

fn i32_of(order: Order, bytes: [u8; 4]) -> i64 {
    i64::from(i32::from_le_bytes(order.little(bytes)))
}

fn u32_of(order: Order, bytes: [u8; 4]) -> i64 {
    i64::from(u32::from_le_bytes(order.little(bytes)))
}

fn f32_of(order: Order, bytes: [u8; 4]) -> f64 {
    f64::from(f32::from_le_bytes(order.little(bytes)))
}

fn f64_of(order: Order, bytes: [u8; 8]) -> f64 {
    f64::from_le_bytes(order.little(bytes))
}
