//! Expressions of ADS SQL in queries of the engine.
//!
//! Over columns of xBase tables, an expression has the semantics of ADS: blanks are values, text is padded to its field's width, a division
//! results in a double, and there are about 100 functions. So each such expression becomes one function of the engine over the columns,
//! aggregates and subqueries in it, and is evaluated by the code of the direct lanes. Expressions with the same semantics in the engine are
//! left unchanged, so that they can be pushed down into the scans: columns, literals, AND, OR and their comparisons.

mod function;

use std::ops::ControlFlow;

use datafusion::execution::SessionState;
use datafusion::logical_expr::{ScalarUDF, Signature, TypeSignature, Volatility};
use sqlparser::ast::{
    BinaryOperator, Distinct, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident,
    ObjectName, ObjectNamePart, Query, Select, SelectItem, SetExpr, Spanned as _, Statement, TableFactor,
    UnaryOperator, Value, Visitor, VisitorMut,
};
use tidemill_ads::sql::{
    Clock, Error as SqlError, Kind, Type, function_names, function_takes, has_form, is_volatile, join_constraint_mut,
    literal_of_type, walk,
};

use self::function::AdsFunction;
pub(crate) use self::function::{is_of_ads, written};
use crate::Result;
use crate::scope::Bound;

/// The functions of the engine, and the columns of the statement's tables.
pub(crate) struct Surroundings<'s> {
    tables: Vec<&'s Bound>,
    /// The qualifiers of columns, and whether their tables are of xBase.
    aliases: Vec<(String, bool)>,
    /// Provides the functions of the engine.
    state: &'s SessionState,
    clock: Clock,
}

impl<'s> Surroundings<'s> {
    /// For a statement over these tables.
    pub(crate) fn new(tables: impl Iterator<Item = &'s Bound>, state: &'s SessionState, clock: Clock) -> Self {
        Self {
            tables: tables.collect(),
            aliases: Vec::new(),
            state,
            clock,
        }
    }

    fn is_all_xbase(&self) -> bool {
        self.tables.iter().all(|table| table.is_xbase)
    }

    /// Whether a column is of an xBase table. Columns of a derived table are, if the statement has no other tables.
    fn is_xbase(&self, column: &Expr) -> bool {
        let known = match column {
            Expr::Identifier(name) => {
                let having = self.tables.iter();
                let mut having = having.filter(|table| table.columns.contains(&name.value));
                having
                    .next()
                    .map(|first| first.is_xbase && having.all(|table| table.is_xbase))
            }
            Expr::CompoundIdentifier(parts) => parts.first().and_then(|alias| {
                let known = self.aliases.iter().find(|(known, _)| *known == alias.value);
                known.map(|(_, is_xbase)| *is_xbase)
            }),
            _ => None,
        };
        known.unwrap_or_else(|| self.is_all_xbase())
    }

    /// The type of a column or a literal, if known.
    fn type_of(&self, value: &Expr) -> Option<Type> {
        let of_column = |name: &str| {
            let of_table = |table: &&Bound| {
                let place = table.columns.iter().position(|column| column == name)?;
                table.types.get(place).copied().flatten()
            };
            self.tables.iter().find_map(of_table)
        };
        match value {
            Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => self.type_of(inner),
            Expr::Identifier(name) => of_column(&name.value),
            Expr::CompoundIdentifier(parts) => of_column(&parts.last()?.value),
            Expr::Value(value) => match value.value {
                Value::Number(..) => Some(Type::Double),
                Value::SingleQuotedString(_) => Some(Type::Text(0)),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_aggregate(&self, name: &str) -> bool {
        self.state
            .aggregate_functions()
            .contains_key(&name.to_ascii_lowercase())
    }

    fn has_function(&self, name: &str) -> bool {
        self.state.scalar_functions().contains_key(&name.to_ascii_lowercase())
    }
}

impl Visitor for Surroundings<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table {
            name,
            alias: Some(alias),
            ..
        } = factor
        {
            let name = crate::scope::text(name);
            if let Some(table) = self.tables.iter().find(|table| table.registered == name) {
                self.aliases.push((alias.name.value.clone(), table.is_xbase));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Replaces the expressions over xBase tables in a bound statement by functions, and returns these.
///
/// # Errors
///
/// [`Error::Ads`] for an aggregate over a column of another type.
pub(crate) fn lower(statement: &mut Statement, mut surroundings: Surroundings<'_>) -> Result<Vec<ScalarUDF>> {
    let _ = walk::look_at(statement, &mut surroundings);
    let mut lowering = Lowering {
        surroundings: &surroundings,
        functions: Vec::new(),
        groups: Vec::new(),
        fault: None,
    };
    let _ = walk::change(statement, &mut lowering);
    match lowering.fault {
        Some(fault) => Err(fault.into()),
        None => Ok(lowering.functions.into_iter().map(ScalarUDF::from).collect()),
    }
}

struct Lowering<'o> {
    surroundings: &'o Surroundings<'o>,
    functions: Vec<AdsFunction>,
    fault: Option<SqlError>,
    /// The original GROUP BY expressions of the enclosing SELECTs, the innermost last.
    groups: Vec<Vec<Expr>>,
}

impl VisitorMut for Lowering<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        // ORDER BY may repeat an expression of GROUP BY.
        self.groups.push(match &*query.body {
            SetExpr::Select(select) => groups_of(select),
            _ => Vec::new(),
        });
        let order = query.order_by.as_mut().map(|order| &mut order.kind);
        if let Some(sqlparser::ast::OrderByKind::Expressions(terms)) = order {
            for term in terms {
                self.rewrite(&mut term.expr);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.groups.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        self.groups.push(groups_of(select));
        if let Some(Distinct::On(keys)) = &mut select.distinct {
            keys.iter_mut().for_each(|key| self.rewrite(key));
        }
        for item in &mut select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => self.rewrite(expr),
                _ => {}
            }
        }
        for table in &mut select.from {
            for join in &mut table.joins {
                if let Some(condition) = join_condition(&mut join.join_operator) {
                    self.rewrite(condition);
                }
            }
        }
        for expr in [&mut select.selection, &mut select.having, &mut select.qualify]
            .into_iter()
            .flatten()
        {
            self.rewrite(expr);
        }
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            for key in keys.iter_mut().flat_map(keys_of) {
                self.rewrite_whole(key);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.groups.pop();
        ControlFlow::Continue(())
    }
}

impl Lowering<'_> {
    fn is_grouped_by(&self, expr: &Expr) -> bool {
        let innermost = self.groups.last();
        innermost.is_some_and(|keys| keys.contains(expr))
    }

    fn rewrite(&mut self, expr: &mut Expr) {
        if self.is_grouped_by(expr) {
            return self.rewrite_whole(expr);
        }
        match expr {
            Expr::Nested(inner) => self.rewrite(inner),
            Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } => self.rewrite(expr),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::And | BinaryOperator::Or,
                right,
            } => {
                self.rewrite(left);
                self.rewrite(right);
            }
            expr => self.rewrite_whole(expr),
        }
    }

    /// Whether values have a common type, as far as their types are known. Others are left to ADS, which refuses them. A string literal may
    /// spell a value of the type.
    fn fit<'e>(&self, values: impl IntoIterator<Item = &'e Expr>) -> bool {
        let (mut all, mut texts) = (Type::Unknown, Vec::new());
        for value in values {
            if let Some(text) = text_of(value) {
                texts.push(text);
                continue;
            }
            let one = self.surroundings.type_of(value).unwrap_or(Type::Unknown);
            match all.with(one) {
                Some(both) => all = both,
                None => return false,
            }
        }
        let fits = |text: &str| all.with(Type::Text(0)).is_some() || literal_of_type(text, all).is_some();
        texts.into_iter().all(fits)
    }

    /// Rewrites an expression as a whole, without considering its parts.
    fn rewrite_whole(&mut self, expr: &mut Expr) {
        let is_of_ads = self.is_of_ads(expr);
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) | Expr::Wildcard(_) => return,
            Expr::InSubquery { expr, .. } => return self.rewrite(expr),
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::AnyOp { .. } | Expr::AllOp { .. } => return,
            Expr::Function(function) if self.surroundings.is_over_rows(function) => {
                if !is_of_ads {
                    return self.rewrite_arguments(function);
                }
                if let Some(average) = average(function) {
                    *expr = average;
                    return self.rewrite(expr);
                }
                self.check(function);
                return self.rewrite_arguments(function);
            }
            // An expression of another store: only its aggregates and windows may contain expressions of ADS.
            expr if !is_of_ads => return self.rewrite_parts(expr),
            Expr::BinaryOp { left, op, right }
                if is_comparison(op) && is_plain(left) && is_plain(right) && self.fit([&**left, &**right]) =>
            {
                trim(left);
                trim(right);
                return;
            }
            Expr::Between { expr, low, high, .. }
                if is_plain(expr) && is_plain(low) && is_plain(high) && self.fit([&**expr, &**low, &**high]) =>
            {
                trim(low);
                trim(high);
                return;
            }
            Expr::InList { expr, list, .. }
                if is_plain(expr) && list.iter().all(is_plain) && self.fit(std::iter::once(&**expr).chain(&*list)) =>
            {
                list.iter_mut().for_each(trim);
                return;
            }
            _ => {}
        }
        let mut template = expr.clone();
        let mut leaves = Leaves {
            found: Vec::new(),
            groups: match self.is_grouped_by(expr) {
                true => &[],
                false => self.groups.last().map(Vec::as_slice).unwrap_or_default(),
            },
            surroundings: self.surroundings,
        };
        let _ = walk::change(&mut template, &mut leaves);
        let mut leaves = leaves.found;
        for leaf in &mut leaves {
            self.rewrite(leaf);
        }
        let name = self.function_of(template, leaves.len());
        *expr = call(&name, leaves);
    }

    /// Whether an expression has the semantics of ADS: its columns are of xBase tables and ADS has its functions, or only ADS has them.
    fn is_of_ads(&self, expr: &Expr) -> bool {
        let mut parts = Parts {
            surroundings: self.surroundings,
            depth: 0,
            has_columns: false,
            are_xbase: true,
            are_known: true,
            are_only_here: false,
        };
        let _ = walk::look_at(expr, &mut parts);
        let is_xbase = match parts.has_columns {
            true => parts.are_xbase,
            false => self.surroundings.is_all_xbase(),
        };
        parts.are_known && (is_xbase || parts.are_only_here)
    }

    /// Rewrites the aggregates, the windows and the functions that only ADS has within an expression that is otherwise left unchanged.
    fn rewrite_parts(&mut self, expr: &mut Expr) {
        struct OverRows<'l, 'o>(&'l mut Lowering<'o>);

        impl VisitorMut for OverRows<'_, '_> {
            type Break = ();

            fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
                if let Expr::Function(function) = expr {
                    if self.0.surroundings.is_over_rows(function) {
                        self.0.rewrite_arguments(function);
                    } else if self.0.surroundings.is_only_of_ads(function) {
                        self.0.rewrite_call(expr);
                    }
                }
                ControlFlow::Continue(())
            }
        }

        let _ = walk::change(expr, &mut OverRows(self));
    }

    /// Rewrites a call of a function that only ADS has. Arguments that ADS lacks are computed by the engine.
    fn rewrite_call(&mut self, expr: &mut Expr) {
        if self.is_of_ads(expr) {
            return self.rewrite_whole(expr);
        }
        let mut template = expr.clone();
        let Expr::Function(Function {
            args: FunctionArguments::List(list),
            ..
        }) = &mut template
        else {
            return;
        };
        let mut leaves = Vec::new();
        for argument in &mut list.args {
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) = argument
                && !matches!(argument, Expr::Value(_))
            {
                let leaf = Expr::Identifier(Ident::new(format!("c{}", leaves.len())));
                leaves.push(std::mem::replace(argument, leaf));
            }
        }
        for leaf in &mut leaves {
            self.rewrite(leaf);
        }
        let name = self.function_of(template, leaves.len());
        *expr = call(&name, leaves);
    }

    /// Refuses SUM of text.
    fn check(&mut self, function: &Function) {
        let FunctionArguments::List(list) = &function.args else {
            return;
        };
        if let (Some("sum" | "SUM"), [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))]) =
            (name_of(function), list.args.as_slice())
            && matches!(self.surroundings.type_of(argument), Some(Type::Text(_) | Type::Memo))
        {
            let why = "Invalid operand: expected numeric, found character";
            self.fault = Some(SqlError::new(Kind::Type, why).at(argument.span().start));
        }
    }

    fn rewrite_arguments(&mut self, function: &mut Function) {
        let FunctionArguments::List(list) = &mut function.args else {
            return;
        };
        for argument in &mut list.args {
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
                self.rewrite(expr);
            }
        }
        if let Some(sqlparser::ast::WindowType::WindowSpec(window)) = &mut function.over {
            let order = window.order_by.iter_mut().map(|term| &mut term.expr);
            for expr in window.partition_by.iter_mut().chain(order) {
                self.rewrite(expr);
            }
        }
    }

    /// The name of the function for an expression; equal expressions share a function.
    fn function_of(&mut self, template: Expr, arguments: usize) -> String {
        let known = self.functions.iter().find(|known| known.template == template);
        if let Some(known) = known {
            return known.name.clone();
        }
        let name = format!("ads_{}", self.functions.len());
        self.functions.push(AdsFunction {
            name: name.clone(),
            signature: Signature::new(
                match arguments {
                    0 => TypeSignature::Nullary,
                    _ => TypeSignature::VariadicAny,
                },
                match has_volatile(&template) {
                    true => Volatility::Volatile,
                    false => Volatility::Immutable,
                },
            ),
            template,
            clock: self.surroundings.clock,
        });
        name
    }
}

fn groups_of(select: &Select) -> Vec<Expr> {
    let GroupByExpr::Expressions(keys, _) = &select.group_by else {
        return Vec::new();
    };
    let mut keys = keys.clone();
    let keys = keys.iter_mut().flat_map(keys_of);
    keys.filter(|key| !is_plain(key)).map(|key| key.clone()).collect()
}

/// The expressions of a part of GROUP BY: those of each set of `ROLLUP`, `CUBE` and `GROUPING SETS`.
fn keys_of(part: &mut Expr) -> Vec<&mut Expr> {
    match part {
        Expr::Rollup(sets) | Expr::Cube(sets) | Expr::GroupingSets(sets) => sets.iter_mut().flatten().collect(),
        key => vec![key],
    }
}

fn join_condition(operator: &mut sqlparser::ast::JoinOperator) -> Option<&mut Expr> {
    match join_constraint_mut(operator)? {
        sqlparser::ast::JoinConstraint::On(condition) => Some(condition),
        _ => None,
    }
}

/// Takes the columns out of an expression, and leaves `c0`, `c1`, … in their places.
struct Leaves<'g, 's> {
    found: Vec<Expr>,
    groups: &'g [Expr],
    surroundings: &'s Surroundings<'s>,
}

impl VisitorMut for Leaves<'_, '_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let is_leaf = match &*expr {
            expr if self.groups.contains(expr) => true,
            Expr::Function(function) => self.surroundings.is_over_rows(function),
            Expr::Subquery(_)
            | Expr::Exists { .. }
            | Expr::InSubquery { .. }
            | Expr::AnyOp { .. }
            | Expr::AllOp { .. } => true,
            expr => is_column(expr),
        };
        if is_leaf {
            let known = self.found.iter().position(|found| *found == *expr);
            let place = known.unwrap_or_else(|| {
                self.found.push(expr.clone());
                self.found.len() - 1
            });
            *expr = Expr::Identifier(Ident::new(format!("c{place}")));
        }
        ControlFlow::Continue(())
    }
}

/// Whether it is a column. Bound names are quoted.
fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(ident) => ident.quote_style.is_some(),
        Expr::CompoundIdentifier(_) => true,
        _ => false,
    }
}

/// A column or a literal.
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Value(_) => true,
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => matches!(**expr, Expr::Value(_)),
        Expr::Nested(inner) => is_plain(inner),
        expr => is_column(expr),
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(op, B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq)
}

/// A string literal. Trailing blanks are ignored, and columns have none.
fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn trim(expr: &mut Expr) {
    if let Expr::Value(value) = expr
        && let Value::SingleQuotedString(text) = &mut value.value
    {
        text.truncate(text.trim_end_matches(' ').len());
    }
}

impl Surroundings<'_> {
    /// Whether it is an aggregate or a window function.
    fn is_over_rows(&self, function: &Function) -> bool {
        function.over.is_some() || name_of(function).is_some_and(|name| self.is_aggregate(name))
    }

    /// Whether ADS has a function of this name, with so many arguments, and the engine has not.
    fn is_only_of_ads(&self, function: &Function) -> bool {
        let takes = |name: &str| is_name_of_ads(name) && function_takes(name, arguments_of(function));
        name_of(function).is_some_and(|name| takes(name) && self.is_others(function, name))
    }

    /// Whether the engine has no such function, or a different one.
    fn is_others(&self, function: &Function, name: &str) -> bool {
        !self.has_function(name) || is_another_elsewhere(function, name)
    }
}

fn is_name_of_ads(name: &str) -> bool {
    function_names().any(|known| known.eq_ignore_ascii_case(name))
}

fn name_of(function: &Function) -> Option<&str> {
    match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] => Some(&name.value),
        _ => None,
    }
}

/// Properties of an expression, without its subqueries.
struct Parts<'s> {
    surroundings: &'s Surroundings<'s>,
    depth: usize,
    has_columns: bool,
    are_xbase: bool,
    /// Whether ADS has all its functions and syntax.
    are_known: bool,
    /// Whether only ADS has one of its functions.
    are_only_here: bool,
}

impl Visitor for Parts<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        self.are_known &= has_form(expr);
        if is_column(expr) {
            self.has_columns = true;
            self.are_xbase &= self.surroundings.is_xbase(expr);
        }
        if let Expr::Function(function) = expr
            && !self.surroundings.is_over_rows(function)
        {
            // With more arguments it is another engine's function: `LTRIM(a, 'x')`.
            let name = name_of(function).unwrap_or_default();
            self.are_known &= is_name_of_ads(name) && function_takes(name, arguments_of(function));
            self.are_only_here |= is_name_of_ads(name) && self.surroundings.is_others(function, name);
        }
        ControlFlow::Continue(())
    }
}

/// Whether the engine has a different function of the same name: `empty` takes arrays, and `random` takes no seed.
fn is_another_elsewhere(function: &Function, name: &str) -> bool {
    let is_one = ["EMPTY", "RAND"].iter().any(|known| name.eq_ignore_ascii_case(known));
    is_one && arguments_of(function) == 1
}

/// An average is an exact sum divided by a count.
fn average(function: &Function) -> Option<Expr> {
    let is_it = name_of(function).is_some_and(|name| name.eq_ignore_ascii_case("AVG"));
    let named = |name: &str| {
        let mut function = function.clone();
        function.name = ObjectName::from(vec![Ident::new(name)]);
        Box::new(Expr::Function(function))
    };
    is_it.then(|| Expr::BinaryOp {
        left: named("sum"),
        op: BinaryOperator::Divide,
        right: named("count"),
    })
}

fn arguments_of(function: &Function) -> usize {
    match &function.args {
        FunctionArguments::List(list) => list.args.len(),
        _ => 0,
    }
}

fn has_volatile(template: &Expr) -> bool {
    let mut names = Vec::new();
    let _ = walk::expressions(template, &mut |expr| {
        if let Expr::Function(function) = expr {
            names.push(function.name.to_string());
        }
        ControlFlow::<()>::Continue(())
    });
    names.iter().any(|name| is_volatile(name))
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let arguments = arguments.into_iter();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(sqlparser::ast::FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments
                .map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)))
                .collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
