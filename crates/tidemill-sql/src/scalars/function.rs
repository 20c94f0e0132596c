//! An expression of ADS SQL as a function of the engine.

use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef};
use datafusion::common::DataFusionError;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use sqlparser::ast::Expr;
use tidemill_ads::sql::{BLANK_IS_NULL, Clock, Scalar, ScalarColumn, Type, walk};
use tidemill_xbase::CodePage;
use tidemill_xbase::expression::Environment;

use crate::{Error, Result};

/// The expression that a function stands for, with these arguments; `None` for the engine's own functions.
pub(crate) fn written(function: &ScalarUDF, arguments: &[Expr]) -> Option<Expr> {
    let inner: &dyn std::any::Any = function.inner().as_ref();
    let mut expr = inner.downcast_ref::<AdsFunction>()?.template.clone();
    let _ = walk::expressions_mut(&mut expr, &mut |part| {
        if let Expr::Identifier(name) = part
            && let Some(argument) = name
                .value
                .strip_prefix('c')
                .and_then(|place| place.parse::<usize>().ok())
            && let Some(argument) = arguments.get(argument)
        {
            *part = argument.clone();
        }
        ControlFlow::<()>::Continue(())
    });
    Some(Expr::Nested(Box::new(expr)))
}

/// Whether a function is evaluated as ADS SQL, which handles blanks.
pub(crate) fn is_of_ads(function: &ScalarUDF) -> bool {
    let inner: &dyn std::any::Any = function.inner().as_ref();
    inner.is::<AdsFunction>()
}

/// An expression of ADS SQL over `c0`, `c1`, …, as a function of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AdsFunction {
    pub(super) name: String,
    pub(super) template: Expr,
    pub(super) signature: Signature,
    pub(super) clock: Clock,
}

impl Hash for AdsFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl AdsFunction {
    fn bind(&self, fields: &[FieldRef]) -> Result<Scalar, DataFusionError> {
        let columns = fields.iter().enumerate();
        let columns = columns
            .map(|(place, field)| column_of(place, field))
            .collect::<Result<Vec<_>>>();
        let environment = Environment::with_all_letters(CodePage::Cp1252);
        columns
            .and_then(|columns| Ok(Scalar::bind(&self.template, &columns, environment, self.clock)?))
            .map_err(|error| DataFusionError::External(Box::new(error)))
    }
}

fn column_of(place: usize, field: &Field) -> Result<ScalarColumn> {
    let metadata = |key: &str| field.metadata().get(key).map(String::as_str);
    let width = match metadata("xbase.type") {
        Some("C") => metadata("xbase.width").and_then(|width| width.parse().ok()),
        _ => None,
    };
    let type_of = Type::of_arrow(field.data_type(), width).ok_or_else(|| Error::Unsupported {
        what: format!("a value of the type {} in an expression of ADS SQL", field.data_type()),
        hint: "cast it where it comes from".to_owned(),
    })?;
    Ok(ScalarColumn {
        name: format!("c{place}"),
        type_of,
        blank_is_null: metadata(BLANK_IS_NULL) == Some("1"),
    })
}

impl ScalarUDFImpl for AdsFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType, DataFusionError> {
        Err(DataFusionError::Internal(
            "its type depends on more than types".to_owned(),
        ))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef, DataFusionError> {
        let scalar = self.bind(args.arg_fields)?;
        Ok(Arc::new(Field::new(&self.name, scalar.type_of().data_type(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        let scalar = self.bind(&args.arg_fields)?;
        let rows = args.number_rows;
        let arrays = args.args.iter().zip(&args.arg_fields).map(|(value, field)| {
            let array = value.to_array(rows)?;
            let wanted = Type::of_arrow(field.data_type(), None).map_or(DataType::Null, Type::data_type);
            Ok(if *array.data_type() == wanted {
                array
            } else {
                cast(&array, &wanted)?
            })
        });
        let arrays = arrays.collect::<Result<Vec<ArrayRef>, DataFusionError>>()?;
        let made = scalar.evaluate(&arrays, rows);
        let made = made.map_err(|error| DataFusionError::External(Box::new(Error::from(error))))?;
        let promised = args.return_field.data_type();
        Ok(ColumnarValue::Array(if made.data_type() == promised {
            made
        } else {
            cast(&made, promised)?
        }))
    }
}
