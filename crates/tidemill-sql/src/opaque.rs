//! A shared value with a type that the compiler does not look into.
//!
//! Each request handler of a server has to be `Send`. For each, the compiler walked through the recursive types of expressions and plans
//! for six seconds: `tidemill-server` took three minutes to check.

use std::ops::Deref;
use std::sync::Arc;

/// A `Send` and `Sync` value, whose type is hidden from the compiler's checks.
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
    /// Wraps a value.
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
