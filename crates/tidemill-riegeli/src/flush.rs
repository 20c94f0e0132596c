//! How far a flush goes.
//!
//! Source: google/riegeli, `riegeli/base/types.h`, `FlushType`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
};

/// How far written records are to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlushType {
    /// To the destination of the writer: who shares it sees them.
    FromObject,
    /// Out of the process: whoever opens the file sees them, also when this process dies.
    FromProcess,
    /// To the device: they stay when the machine loses its power.
    FromMachine,
}

/// A destination that keeps what it says it has.
pub trait Durable: Write {
    /// Returns when everything that was written will still be there after a loss of power.
    ///
    /// # Errors
    /// What the system says. After an error it is not known what was kept.
    fn sync(&mut self) -> io::Result<()>;
}

impl Durable for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl<W: Durable> Durable for BufWriter<W> {
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.get_mut().sync()
    }
}

impl<W: Durable + ?Sized> Durable for &mut W {
    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }
}

impl<W: Durable + ?Sized> Durable for Box<W> {
    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }
}
