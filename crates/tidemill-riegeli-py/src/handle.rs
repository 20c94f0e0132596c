//! Where an object of Python keeps its reader or writer.
//!
//! A call takes it out, works with the interpreter released, and puts it back. Who comes meanwhile gets a `RuntimeError` instead of
//! waiting for what may never come.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
};

/// A reader or writer, until it is closed.
pub(crate) struct Handle<T> {
    state: Mutex<State<T>>,
    /// What errors call it.
    name: &'static str,
}

enum State<T> {
    Ready(Box<T>),
    /// Taken out by a call.
    InUse,
    Closed,
}

impl<T> Handle<T> {
    pub(crate) fn new(inner: T, name: &'static str) -> Self {
        Self {
            state: Mutex::new(State::Ready(Box::new(inner))),
            name,
        }
    }

    /// Returns whether it is open, in use or not.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(*self.state(), State::Closed)
    }

    /// Calls `work`, which must be quick and run no Python code, without releasing the interpreter.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        match &mut *self.state() {
            State::Ready(inner) => Ok(work(inner)),
            other => Err(self.missing(other)),
        }
    }

    /// Calls `work` with the reader or writer taken out. It may release the interpreter.
    pub(crate) fn take<R>(&self, work: impl FnOnce(&mut T) -> PyResult<R>) -> PyResult<R> {
        let mut inner = self.take_out(State::InUse)?;
        let result = work(&mut inner);
        *self.state() = State::Ready(inner);
        result
    }

    /// Closes it and returns it, `None` if it was closed before.
    pub(crate) fn close(&self) -> PyResult<Option<Box<T>>> {
        match self.is_open() {
            true => self.take_out(State::Closed).map(Some),
            false => Ok(None),
        }
    }

    fn take_out(&self, instead: State<T>) -> PyResult<Box<T>> {
        let mut state = self.state();
        match std::mem::replace(&mut *state, instead) {
            State::Ready(inner) => Ok(inner),
            other => {
                let error = self.missing(&other);
                *state = other;
                Err(error)
            }
        }
    }

    fn missing(&self, state: &State<T>) -> PyErr {
        match state {
            State::Closed => PyValueError::new_err(format!("the {} is closed", self.name)),
            _ => PyRuntimeError::new_err(format!("the {} is in use by another thread", self.name)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
