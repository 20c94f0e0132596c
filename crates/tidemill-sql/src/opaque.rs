//! A shared value that the compiler does not look into.
//!
//! Whether a session may go to another thread is asked for each request handler of a server. Each time the compiler walked through
//! expressions and plans, which contain one another, for six seconds: `tidemill-server` took three minutes to check.

use std::ops::Deref;
use std::sync::Arc;

/// A value that may go to other threads, whatever its type is made of.
pub struct Opaque<T: 'static>(Arc<dyn Holds<T>>);

trait Holds<T>: Send + Sync {
    fn value(&self) -> &T;
}

impl<T: Send + Sync> Holds<T> for T {
    fn value(&self) -> &T {
        self
    }
}

impl<T: Send + Sync> Opaque<T> {
    /// Hides a value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Clone for Opaque<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Opaque<T> {
    type Target = T;

    fn deref(&self) -> &T {
        (*self.0).value()
    }
}

impl<T: Default + Send + Sync> Default for Opaque<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Opaque<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
