//! The columns of groups: keys, and what is computed of the rows.

use super::Grouping;
use crate::sql::expression::{Blank, Column, Expr};
use crate::sql::group::{Aggregate, AggregateKind};
use crate::sql::value::{Type, Value};

impl Grouping {
    /// The column of the groups that shows an expression: a key, or of a key that ignores case what the first row has.
    pub(in crate::sql) fn shown(&mut self, expr: &Expr) -> Option<Expr> {
        if let Some(key) = self.keys.iter().position(|key| key == expr) {
            return Some(Expr::Column(key));
        }
        let is_small = |key: &Expr| matches!(key, Expr::Small(inner) if **inner == *expr);
        self.keys.iter().any(is_small).then(|| {
            Expr::Column(self.place(Aggregate {
                kind: AggregateKind::First,
                argument: Some(expr.clone()),
                compared: None,
                is_distinct: false,
                concat: None,
            }))
        })
    }

    /// What [`Self::shown`] has a column for.
    pub(in crate::sql) fn shows(&self, column: usize) -> Option<&Expr> {
        let first = |place: usize| {
            let aggregate = self.aggregates.get(place)?;
            aggregate
                .argument
                .as_ref()
                .filter(|_| aggregate.kind == AggregateKind::First)
        };
        match column.checked_sub(self.keys.len()) {
            None => self.keys.get(column),
            Some(place) => first(place),
        }
    }

    /// The column of an aggregate.
    pub(super) fn place(&mut self, aggregate: Aggregate) -> usize {
        let known = self.aggregates.iter().position(|known| *known == aggregate);
        self.keys.len()
            + known.unwrap_or_else(|| {
                self.aggregates.push(aggregate);
                self.aggregates.len() - 1
            })
    }

    /// The columns of a group: its keys, then its aggregates.
    pub(in crate::sql) fn columns(&self, columns: &[Column], parameters: &[Value]) -> Vec<Column> {
        let column = |type_of: Type, blank: Blank| Column {
            name: String::new(),
            short_name: String::new(),
            type_of,
            blank,
            ignores_case: false,
        };
        let blank = |key: &Expr| match key {
            Expr::Column(index) => columns.get(*index).map_or(Blank::Apart, |column| column.blank),
            _ => Blank::Apart,
        };
        let keys = self
            .keys
            .iter()
            .map(|key| column(key.type_of(columns, parameters), blank(key)));
        let aggregates = self.aggregates.iter().map(|aggregate| {
            let type_of = aggregate.type_of(columns, parameters);
            let argument = aggregate.argument.as_ref();
            let ignores_case =
                type_of.is_text() && argument.is_some_and(|argument| argument.coercion(columns).ignores_case());
            let day = matches!(type_of, Type::Date | Type::Timestamp).then_some(aggregate.argument.as_ref());
            match day.flatten().map(blank) {
                // The least of blank days is a blank.
                Some(Blank::Null) => column(type_of, Blank::Null),
                _ => Column {
                    ignores_case,
                    ..column(type_of, Blank::Apart)
                },
            }
        });
        keys.chain(aggregates).collect()
    }
}
