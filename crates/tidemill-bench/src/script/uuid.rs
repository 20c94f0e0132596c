//! UUIDs in scripts.

use std::hash::Hash as _;

use metrohash::MetroHash128;
use rune::alloc::fmt::TryWrite as _;
use rune::runtime::{Formatter, VmResult};
use rune::{Any, ContextError, Module, vm_write};

/// A UUID. It prints as its 36 characters and is equal to another of the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Any)]
#[rune(item = ::latte)]
pub struct Uuid(pub uuid::Uuid);

impl Uuid {
    /// The random (version 4) UUID of a number: the same number gives the same UUID, and the one that Latte gives.
    pub(super) fn of(number: i64) -> Self {
        let mut hash = MetroHash128::new();
        number.hash(&mut hash);
        let (high, low) = hash.finish128();
        let bits = (u128::from(high) << 64) | u128::from(low);
        Self(uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid())
    }

    #[rune::function(instance, protocol = DISPLAY_FMT)]
    fn display(&self, f: &mut Formatter) -> VmResult<()> {
        vm_write!(f, "{}", self.0)
    }

    #[rune::function(instance, protocol = DEBUG_FMT)]
    fn debug(&self, f: &mut Formatter) -> VmResult<()> {
        vm_write!(f, "{}", self.0)
    }

    #[rune::function(instance, protocol = PARTIAL_EQ)]
    fn partial_eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    #[rune::function(instance, protocol = EQ)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

pub(super) fn module() -> Result<Module, ContextError> {
    let mut module = Module::with_item(["latte"])?;
    module.ty::<Uuid>()?;
    module.function_meta(Uuid::display)?;
    module.function_meta(Uuid::debug)?;
    module.function_meta(Uuid::partial_eq)?;
    module.function_meta(Uuid::eq)?;
    Ok(module)
}
