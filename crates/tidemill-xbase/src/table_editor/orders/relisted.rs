//! Orders that another program makes in an index file that is open here, or drops.
//!
//! Whoever makes or drops one holds the lock of all records meanwhile, so that nobody who changes a record does it at that moment.
//! Before a change the headers of the open index files are looked at: a counter there tells whether anything was changed. The
//! orders of a file that has others now are read again, and the entries that the change makes are made for those.

use super::{Changes, OrderFile, Orders, TableEditor};
use crate::error::{Error, Result};

/// How often the orders may be others than a moment ago before a change is given up.
const TRIES: usize = 4;

impl TableEditor {
    /// Another number than before when another program was found to have made, dropped or changed orders of the open index
    /// files. They are looked at with every change, and when an order is asked for.
    pub fn orders_relisted(&self) -> u64 {
        self.orders.relisted()
    }

    /// What a change does to the orders, with the files locked that it changes.
    ///
    /// # Errors
    /// Some files may be locked then.
    pub(super) fn locked_changes(&mut self, changes: impl Fn(&Orders) -> Result<Changes>) -> Result<Changes> {
        for _ in 0..TRIES {
            let (found, relisted) = (changes(&self.orders)?, self.orders.relisted());
            self.orders.lock(&found, &self.options)?;
            if self.orders.relisted() == relisted {
                return Ok(found);
            }
            self.orders.unlock()?;
        }
        Err(self.misuse("other programs make and drop orders all the time"))
    }
}

impl Orders {
    fn relisted(&self) -> u64 {
        self.files.iter().map(|file| file.index.relisted()).sum()
    }
}

impl OrderFile {
    /// Gets the orders ready that the file has now, when they are others than before.
    pub(super) fn follow_list(&mut self) -> Result<()> {
        if self.relisted != self.index.relisted() {
            self.compile()?;
            self.prepare()?;
            self.relisted = self.index.relisted();
        }
        Ok(())
    }

    /// The place of an order that was there a moment ago, by its name in any case.
    ///
    /// # Errors
    /// [`Error::Misuse`] when another program has dropped it.
    pub(super) fn place_of(&self, name: &str) -> Result<usize> {
        let mut tags = self.index.tags().iter();
        tags.position(|tag| tag.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let path = self.index.path().display();
            Error::Misuse(format!("{path}: another program has dropped index tag {name}"))
        })
    }
}
