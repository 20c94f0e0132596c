//! Queries that several SELECTs make: UNION and UNION ALL.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, UInt32Array};
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef};
use sqlparser::ast::{self, OrderByKind, SetExpr, SetOperator, SetQuantifier};

use super::plan::Frame;
use super::{Plan, batch_in};
use crate::sql::analytical::{Template, direct_or_engine};
use crate::sql::answer::{Answer, Live, Rows};
use crate::sql::bind::Parameters;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::evaluate::Session;
use crate::sql::expression::{Blank, Column};
use crate::sql::functions;
use crate::sql::interner::Keys;
use crate::sql::sort;
use crate::sql::statement::Select;
use crate::sql::tables::Tables;
use crate::sql::value::{Type, Value};
use crate::sql::vector::{Vector, common};

/// Whether a query has a clause behind its SELECTs, or WITH before them.
fn has_clauses(query: &ast::Query) -> bool {
    query.with.is_some() || query.order_by.is_some() || query.limit_clause.is_some() || query.fetch.is_some()
}

/// A bound query.
#[derive(Debug)]
pub(in crate::sql) enum Query {
    One(Box<Plan>),
    Union {
        left: Box<Query>,
        right: Box<Query>,
        keeps_duplicates: bool,
        /// Columns by their place and whether they descend.
        order: Vec<(usize, bool)>,
    },
    /// One for the analytical engine.
    Analytical(Box<Template>),
}

impl Query {
    /// Binds a query, which an analytical engine may answer where the connection has one.
    ///
    /// # Errors
    /// As [`Query::bind`].
    pub(in crate::sql) fn bind_any(
        select: &Select,
        tables: &mut dyn Tables,
        parameters: &mut Parameters,
    ) -> Result<Self> {
        direct_or_engine(
            tables,
            parameters,
            |tables, parameters| Self::bind(select, tables, parameters),
            |tables, parameters| {
                let template = Template::bind(select, tables, parameters)?;
                Ok(Self::Analytical(Box::new(template)))
            },
        )
    }

    /// Binds a query.
    ///
    /// # Errors
    /// As [`Plan::bind`].
    pub(in crate::sql) fn bind(select: &Select, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let mut query = &*select.query;
        // Parentheses around all of it.
        while let (SetExpr::Query(inner), false) = (&*query.body, has_clauses(query)) {
            query = inner;
        }
        Self::of_query(query, (select.is_static, select.start_at), tables, parameters)
    }

    fn of_query(
        query: &ast::Query,
        (is_static, start_at): (bool, Option<u64>),
        tables: &mut dyn Tables,
        parameters: &mut Parameters,
    ) -> Result<Self> {
        if query.with.is_some() {
            return Err(Error::needs_analytical("A common table expression"));
        }
        if let SetExpr::Select(only) = &*query.body {
            let frame = Frame {
                order: query.order_by.as_ref(),
                limit: query.limit_clause.as_ref(),
                fetch: query.fetch.as_ref(),
                is_static,
                start_at,
            };
            return Plan::bind(only, &frame, tables, parameters)
                .map(Box::new)
                .map(Self::One);
        }
        if query.limit_clause.is_some() || query.fetch.is_some() {
            return Err(Error::needs_analytical("A limit of the rows of several SELECTs"));
        }
        let mut union = Self::of_body(&query.body, tables, parameters)?;
        if let Some(by) = &query.order_by {
            let terms = Self::order(by, &union.columns())?;
            let Self::Union { order, .. } = &mut union else {
                return Err(Error::needs_analytical("A query in parentheses that is sorted again"));
            };
            *order = terms;
        }
        Ok(union)
    }

    /// The answer of one that is a look-up: as [`Plan::look_up`].
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub(in crate::sql) fn look_up(&self, tables: &mut dyn Tables, parameters: &[Value]) -> Result<Option<Rows>> {
        match self {
            Self::One(plan) => plan.look_up(tables, parameters),
            _ => Ok(None),
        }
    }

    /// The live cursor that is the answer, where nothing is read to know that.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub(in crate::sql) fn live_unread(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<Option<Live>> {
        match self {
            Self::One(plan) => plan.live_unread(tables, session),
            _ => Ok(None),
        }
    }

    fn of_body(body: &SetExpr, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        match body {
            SetExpr::Select(select) if select.into.is_some() => {
                let why = "INTO cannot stand in a SELECT of a UNION: write SELECT * INTO name FROM (… UNION …) AS rows";
                Err(Error::new(Kind::Unsupported, why))
            }
            SetExpr::Select(select) => Plan::bind(select, &Frame::default(), tables, parameters)
                .map(Box::new)
                .map(Self::One),
            SetExpr::Query(query) => Self::of_query(query, (false, None), tables, parameters),
            SetExpr::SetOperation {
                left,
                op: SetOperator::Union,
                set_quantifier,
                right,
            } if !matches!(
                set_quantifier,
                SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName
            ) =>
            {
                let (left, right) = (
                    Self::of_body(left, tables, parameters)?,
                    Self::of_body(right, tables, parameters)?,
                );
                let (a, b) = (left.columns().len(), right.columns().len());
                if a != b {
                    let why = format!("The parts of a UNION have {a} and {b} columns");
                    return Err(Error::new(Kind::Type, why));
                }
                Ok(Self::Union {
                    left: Box::new(left),
                    right: Box::new(right),
                    keeps_duplicates: *set_quantifier == SetQuantifier::All,
                    order: Vec::new(),
                })
            }
            SetExpr::SetOperation { op, .. } => Err(Error::needs_analytical(op)),
            _ => Err(Error::new(Kind::Unsupported, "ADS SQL has no query like this")),
        }
    }

    /// A UNION is ordered by the numbers of its columns, or by the names that they have in the first SELECT.
    fn order(by: &ast::OrderBy, columns: &[Column]) -> Result<Vec<(usize, bool)>> {
        let wrong = || {
            let why = "A UNION is ordered by the names or the numbers of its columns";
            Error::new(Kind::Unsupported, why)
        };
        let OrderByKind::Expressions(terms) = &by.kind else {
            return Err(wrong());
        };
        let place = |term: &ast::OrderByExpr| {
            let place = match &term.expr {
                ast::Expr::Identifier(name) => {
                    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
                    let mut columns = columns.iter();
                    let place = columns.position(|column| column.name.eq_ignore_ascii_case(&name.value));
                    place.ok_or_else(|| Error::no_column(&name.value, names.iter().cloned()).at(name.span.start))?
                }
                ast::Expr::Value(value) => {
                    let ast::Value::Number(digits, _) = &value.value else {
                        return Err(wrong());
                    };
                    let place = digits.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
                    place.ok_or_else(wrong)?
                }
                _ => return Err(wrong()),
            };
            Ok((place, sort::descends(term)?))
        };
        terms.iter().map(place).collect()
    }

    /// The columns, as a query around this one sees them. Those of an analytical query are not known before it runs.
    pub(in crate::sql) fn columns(&self) -> Vec<Column> {
        match self {
            Self::Analytical(_) => Vec::new(),
            Self::One(plan) => {
                let columns = match &plan.grouping {
                    None => plan.columns.clone(),
                    Some(grouping) => grouping.columns(&plan.columns, &[]),
                };
                let items = plan.items.iter();
                items
                    .map(|item| Column {
                        name: item.name.clone(),
                        short_name: String::new(),
                        type_of: item.expr.type_of(&columns, &[]),
                        blank: item
                            .field
                            .and_then(|field| plan.columns.get(field))
                            .map_or(Blank::Apart, |column| column.blank),
                        ignores_case: item.expr.coercion(&columns).ignores_case(),
                    })
                    .collect()
            }
            Self::Union { left, right, .. } => {
                let columns = left.columns().into_iter().zip(right.columns());
                columns
                    .map(|(left, right)| Column {
                        type_of: left.type_of.with(right.type_of).unwrap_or(left.type_of),
                        blank: match left.blank == right.blank {
                            true => left.blank,
                            false => Blank::Apart,
                        },
                        ignores_case: left.ignores_case || right.ignores_case,
                        ..left
                    })
                    .collect()
            }
        }
    }

    /// # Errors
    /// As [`Plan::run`].
    pub(in crate::sql) fn run(
        &self,
        tables: &mut dyn Tables,
        session: &Session<'_>,
        allows_live: bool,
    ) -> Result<Answer> {
        match self {
            Self::One(plan) => plan.run(tables, session, allows_live),
            Self::Analytical(_) | Self::Union { .. } => self.rows(tables, session).map(Answer::Rows),
        }
    }

    /// # Errors
    /// As [`Plan::run`].
    pub(in crate::sql) fn rows(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<Rows> {
        let (left, right, keeps_duplicates, order) = match self {
            Self::One(plan) => match plan.run(tables, session, false)? {
                Answer::Rows(rows) => return Ok(rows),
                _ => return Err(Error::new(Kind::Unsupported, "a query gave no rows")),
            },
            Self::Analytical(template) => return template.rows(tables, session),
            Self::Union {
                left,
                right,
                keeps_duplicates,
                order,
            } => (left, right, *keeps_duplicates, order),
        };
        let ignoring: Vec<bool> = self.columns().iter().map(|column| column.ignores_case).collect();
        let (left, right) = (left.rows(tables, session)?, right.rows(tables, session)?);
        let count = left.count() + right.count();
        let mut columns = Vec::with_capacity(left.columns.len());
        for index in 0..left.columns.len() {
            let parts = left.batches.iter().chain(&right.batches).filter_map(|batch| {
                let array = batch.columns().get(index)?;
                // NULL alone is kept as a logical, and fits every type.
                let is_null = *array.data_type() == DataType::Boolean && array.null_count() == array.len();
                let vector = match is_null {
                    true => Ok(Vector::Constant(Value::Null)),
                    false => Vector::of_column(array, 0, Blank::Apart),
                };
                Some(vector.map(|vector| (vector, batch.num_rows())))
            });
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let mut type_of = Type::Unknown;
            for (part, _) in &parts {
                type_of = common(type_of, part.type_of())?;
            }
            columns.push((Vector::concatenated(parts)?, type_of));
        }
        let compared = |place: usize, column: &Vector| match ignoring.get(place) {
            Some(true) if column.type_of().is_text() => functions::small(column, count, session),
            _ => Ok(column.clone()),
        };
        let mut rows: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        if !order.is_empty() {
            let mut keys = Vec::with_capacity(order.len());
            for (place, descending) in order {
                let Some((column, _)) = columns.get(*place) else {
                    let why = format!("ORDER BY {}: there are {} columns", place + 1, columns.len());
                    return Err(Error::new(Kind::Value, why));
                };
                keys.push((sort::keys(&compared(*place, column)?, count), *descending));
            }
            rows = sort::sorted(&keys, count, None);
        }
        if !keeps_duplicates {
            let vectors = columns
                .iter()
                .enumerate()
                .map(|(place, (column, _))| compared(place, column));
            let vectors = vectors.collect::<Result<Vec<_>>>()?;
            let mut keys = Keys::new(vectors.len());
            let numbers = keys.number(&vectors, count);
            let mut is_met = vec![false; keys.len()];
            rows.retain(|row| {
                let number = numbers.get(*row as usize).map_or(0, |number| *number as usize);
                is_met.get_mut(number).is_some_and(|met| !std::mem::replace(met, true))
            });
        }
        let picked = UInt32Array::from(rows);
        let arrays = columns.into_iter().map(|(column, type_of)| {
            column
                .into_rows(count)
                .take(&picked)?
                .into_answer(type_of, picked.len())
        });
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let schema = match (left.batches.first(), right.batches.first()) {
            (Some(left), Some(right)) => common_schema(&left.schema(), &right.schema(), &arrays),
            _ => return Err(Error::new(Kind::Engine, "a query gave no batch")),
        };
        let batch = batch_in(&schema, arrays, picked.len())?;
        Ok(Rows {
            columns: left.columns,
            batches: vec![batch],
        })
    }
}

/// The columns of both: what is the same field in both stays it.
fn common_schema(left: &Schema, right: &Schema, arrays: &[ArrayRef]) -> SchemaRef {
    let fields = left.fields().iter().zip(right.fields()).zip(arrays);
    let fields = fields.map(|((left, right), array)| {
        match left.data_type() == right.data_type() && left.metadata() == right.metadata() {
            true => left.as_ref().clone(),
            false => ArrowField::new(left.name(), array.data_type().clone(), true),
        }
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
