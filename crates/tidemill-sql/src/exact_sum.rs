//! `SUM` that reports an overflow; DataFusion's wraps around.
//!
//! Whole numbers and decimals are summed in 128 bits, so that only the final sum must fit its type.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, DecimalType, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, PrimitiveArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue, not_impl_err, plan_datafusion_err};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, Expr, GroupsAccumulator, Operator,
    ReversedUDAF, SetMonotonicity, Signature, StatisticsArgs, TypeSignature, Volatility, udaf_default_return_field,
};
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::accumulate::NullState;
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::nulls::filtered_null_mask;

use crate::numeric_text::{is_numeric, sum::NumericSum};

/// Replaces DataFusion's `SUM` in a session.
pub(crate) fn exact_sum() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(ExactSum {
        inner: sum_udaf(),
        signature: Signature::user_defined(Volatility::Immutable),
    }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ExactSum {
    inner: Arc<AggregateUDF>,
    signature: Signature,
}

impl ExactSum {
    /// DataFusion's message about types that it does not accept.
    fn refuses(&self, types: &[DataType]) -> DataFusionError {
        let taken = self.inner.signature().type_signature.to_string_repr_with_names(None);
        let candidates: Vec<String> = taken
            .iter()
            .map(|types| format!("\t{}({types})", self.name()))
            .collect();
        plan_datafusion_err!(
            "No function matches the given name and argument types '{}({})'. Candidate functions:\n{}",
            self.name(),
            TypeSignature::join_types(types, ", "),
            candidates.join("\n")
        )
    }

    fn of_datafusion(&self) -> &dyn AggregateUDFImpl {
        self.inner.inner().as_ref()
    }
}

/// Calls a function generic over the type of the numbers, for types whose sum can overflow; otherwise returns `None`.
macro_rules! by_type {
    ($data_type:expr, $call:ident ( $($argument:expr),* )) => {
        match $data_type {
            DataType::Int64 => Some($call::<Int64Type>($($argument),*)),
            DataType::UInt64 => Some($call::<UInt64Type>($($argument),*)),
            DataType::Decimal128(..) => Some($call::<Decimal128Type>($($argument),*)),
            _ => None,
        }
    };
}

impl AggregateUDFImpl for ExactSum {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Accepts text too: [`return_field`](Self::return_field) decides which text may be summed.
    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        if let [data_type] = types
            && data_type.is_string()
        {
            return Ok(vec![DataType::Utf8]);
        }
        let fields = types
            .iter()
            .map(|data_type| Arc::new(Field::new("", data_type.clone(), true)));
        let fields = fields_with_udf(&fields.collect::<Vec<FieldRef>>(), self.inner.as_ref());
        let fields = fields.map_err(|_| self.refuses(types))?;
        Ok(fields.iter().map(|field| field.data_type().clone()).collect())
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [data_type] if data_type.is_string() => Ok(DataType::Utf8),
            _ => self.inner.return_type(arg_types),
        }
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        if let [field] = fields
            && field.data_type().is_string()
        {
            if !is_numeric(field) {
                return Err(self.refuses(&[field.data_type().clone()]));
            }
            let sum = Field::new(self.name(), DataType::Utf8, true);
            return Ok(Arc::new(sum.with_metadata(field.metadata().clone())));
        }
        udaf_default_return_field(self, fields)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let sum = args.return_type().clone();
        if sum == DataType::Utf8 {
            return match args.is_distinct {
                false => Ok(Box::new(NumericSum::default())),
                true => not_impl_err!("SUM(DISTINCT …) of numbers without a fixed scale; CAST them to a DECIMAL"),
            };
        }
        if args.is_distinct {
            let values = self.inner.accumulator(args)?;
            return Ok(Box::new(Distinct { values, sum }));
        }
        match by_type!(sum, accumulator(&sum)) {
            Some(exact) => Ok(exact),
            None => self.inner.accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let sum = args.return_type();
        let name = format_state_name(args.name, "sum");
        if *sum == DataType::Utf8 {
            return Ok(vec![Arc::new(Field::new(name, DataType::Utf8, true))]);
        }
        if args.is_distinct || !matches!(sum, DataType::Int64 | DataType::UInt64) {
            return self.inner.state_fields(args);
        }
        Ok(vec![Arc::new(Field::new(name, total_type(sum), true))])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        *args.return_type() != DataType::Utf8 && self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match by_type!(args.return_type(), groups(args.return_type())) {
            Some(exact) => Ok(exact),
            None => self.inner.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if *args.return_type() == DataType::Utf8 {
            return self.accumulator(args);
        }
        match by_type!(args.return_type(), accumulator(args.return_type())) {
            Some(exact) if !args.is_distinct => Ok(exact),
            _ => self.inner.create_sliding_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.of_datafusion().reverse_expr()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn simplify_expr_op_literal(
        &self,
        function: &AggregateFunction,
        argument: &Expr,
        op: Operator,
        literal: &Expr,
        is_left: bool,
    ) -> Result<Option<Expr>> {
        self.inner
            .simplify_expr_op_literal(function, argument, op, literal, is_left)
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.inner.value_from_stats(statistics)
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.of_datafusion().set_monotonicity(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}

/// The type in which partial sums are passed between accumulators.
fn total_type(sum: &DataType) -> DataType {
    match sum {
        DataType::Decimal128(..) => sum.clone(),
        _ => DataType::Decimal128(38, 0),
    }
}

/// A sum of 128 bits, which records whether it wrapped around.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    value: i128,
    overflowed: bool,
}

impl Total {
    fn add(&mut self, value: i128) {
        let (value, overflowed) = self.value.overflowing_add(value);
        self.value = value;
        self.overflowed |= overflowed;
    }
}

/// Types of numbers that are summed in 128 bits.
trait Summed: ArrowPrimitiveType<Native: Into<i128>> + std::fmt::Debug + Send + Sync {
    /// The sum converted to the result type.
    fn narrow(total: i128, sum: &DataType) -> Option<Self::Native>;
}

impl Summed for Int64Type {
    fn narrow(total: i128, _: &DataType) -> Option<i64> {
        total.try_into().ok()
    }
}

impl Summed for UInt64Type {
    fn narrow(total: i128, _: &DataType) -> Option<u64> {
        total.try_into().ok()
    }
}

impl Summed for Decimal128Type {
    fn narrow(total: i128, sum: &DataType) -> Option<i128> {
        let DataType::Decimal128(precision, _) = sum else {
            return None;
        };
        Self::is_valid_decimal_precision(total, *precision).then_some(total)
    }
}

fn narrowed<T: Summed>(total: i128, overflowed: bool, sum: &DataType) -> Result<T::Native> {
    match T::narrow(total, sum) {
        Some(value) if !overflowed => Ok(value),
        _ => {
            let beyond = match sum {
                DataType::Decimal128(precision, _) => format!("the {precision} digits of its type"),
                _ => "a whole number of 64 bits; sum CAST(… AS DECIMAL(38, 0)) instead".to_owned(),
            };
            Err(ArrowError::ArithmeticOverflow(format!("a SUM is beyond {beyond}")).into())
        }
    }
}

fn total_of<T: Summed>(values: &PrimitiveArray<T>) -> Total {
    let mut total = Total::default();
    match values.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(_) => values.iter().flatten().for_each(|value| total.add(value.into())),
        None => values.values().iter().for_each(|value| total.add((*value).into())),
    }
    total
}

/// The sum of some rows.
#[derive(Debug)]
struct Sum<T> {
    total: Total,
    /// The number of values: a window without values has no sum.
    values: u64,
    sum: DataType,
    of: PhantomData<T>,
}

fn accumulator<T: Summed>(sum: &DataType) -> Box<dyn Accumulator> {
    Box::new(Sum::<T> {
        total: Total::default(),
        values: 0,
        sum: sum.clone(),
        of: PhantomData,
    })
}

impl<T: Summed> Sum<T> {
    fn add<V: Summed>(&mut self, array: &ArrayRef) {
        let array = array.as_primitive::<V>();
        let total = total_of(array);
        self.total.add(total.value);
        self.total.overflowed |= total.overflowed;
        self.values += (array.len() - array.null_count()) as u64;
    }

    fn narrowed<V: Summed>(&self, data_type: &DataType) -> Result<ScalarValue> {
        let sum = (self.values > 0).then(|| narrowed::<V>(self.total.value, self.total.overflowed, data_type));
        ScalarValue::new_primitive::<V>(sum.transpose()?, data_type)
    }
}

impl<T: Summed> Accumulator for Sum<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add::<T>(&values[0]);
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let array = values[0].as_primitive::<T>();
        let total = total_of(array);
        self.total.add(-total.value);
        self.total.overflowed |= total.overflowed;
        self.values -= (array.len() - array.null_count()) as u64;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.add::<Decimal128Type>(&states[0]);
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.narrowed::<Decimal128Type>(&total_type(&self.sum))?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.narrowed::<T>(&self.sum)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The sum of distinct values, which DataFusion's accumulator collects.
#[derive(Debug)]
struct Distinct {
    values: Box<dyn Accumulator>,
    sum: DataType,
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.values.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.values.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let state = self.values.state()?;
        if let [ScalarValue::List(values)] = &state[..]
            && let Some(mut sum) = by_type!(&self.sum, accumulator(&self.sum))
        {
            sum.update_batch(&[Arc::clone(values.values())])?;
            return sum.evaluate();
        }
        self.values.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.size()
    }
}

/// The sums of all groups.
struct GroupSums<T> {
    totals: Vec<i128>,
    nulls: NullState,
    overflowed: bool,
    sum: DataType,
    of: PhantomData<T>,
}

fn groups<T: Summed>(sum: &DataType) -> Box<dyn GroupsAccumulator> {
    Box::new(GroupSums::<T> {
        totals: Vec::new(),
        nulls: NullState::new(),
        overflowed: false,
        sum: sum.clone(),
        of: PhantomData,
    })
}

impl<T: Summed> GroupSums<T> {
    fn add<V: Summed>(
        &mut self,
        array: &ArrayRef,
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) {
        self.totals.resize(total_num_groups, 0);
        let (totals, mut any_overflowed) = (&mut self.totals, false);
        let array = array.as_primitive::<V>();
        self.nulls
            .accumulate(group_indices, array, filter, total_num_groups, |group, value| {
                let (total, overflowed) = totals[group].overflowing_add(value.into());
                totals[group] = total;
                any_overflowed |= overflowed;
            });
        self.overflowed |= any_overflowed;
    }

    fn emit<V: Summed>(&mut self, emit_to: EmitTo, data_type: &DataType) -> Result<ArrayRef> {
        let totals = emit_to.take_needed(&mut self.totals);
        let nulls = self.nulls.build(emit_to);
        let sums = totals
            .into_iter()
            .map(|total| narrowed::<V>(total, self.overflowed, data_type));
        let sums = PrimitiveArray::<V>::new(sums.collect::<Result<_>>()?, nulls);
        Ok(Arc::new(sums.with_data_type(data_type.clone())))
    }
}

impl<T: Summed> GroupsAccumulator for GroupSums<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.add::<T>(&values[0], group_indices, filter, total_num_groups);
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.add::<Decimal128Type>(&states[0], group_indices, None, total_num_groups);
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let sum = self.sum.clone();
        self.emit::<T>(emit_to, &sum)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let total = total_type(&self.sum);
        Ok(vec![self.emit::<Decimal128Type>(emit_to, &total)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let array = values[0].as_primitive::<T>();
        let totals = array.values().iter().map(|value| (*value).into());
        let totals = Decimal128Array::new(totals.collect(), filtered_null_mask(filter, array));
        Ok(vec![Arc::new(totals.with_data_type(total_type(&self.sum)))])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.totals.capacity() * size_of::<i128>() + self.nulls.size()
    }
}
