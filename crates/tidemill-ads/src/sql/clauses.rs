//! Refuses, by name, clauses that the parser accepts and no executor implements.
//!
//! sqlparser accepts more SQL than ADS SQL or DataFusion execute. Both read only the fields that they know; a clause in any other field
//! would be ignored, and the statement would return the wrong rows. The checks below name every field of every node that has clauses,
//! without `..` or `_`. A new sqlparser with a new field therefore does not compile until somebody decides how to treat it.
//!
//! This module does not check functions, operators and literals. The code that evaluates them refuses the ones that it does not know.

use std::ops::ControlFlow;

use sqlparser::ast::{
    CeilFloorKind, Cte, DataType, DateTimeField, Distinct, Expr, Fetch, Function, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, GroupByExpr, Join, JoinOperator, LimitClause, NamedWindowDefinition,
    NamedWindowExpr, OrderBy, OrderByExpr, OrderByKind, Query, Select, SelectFlavor, SelectItem, SetExpr,
    SetQuantifier, Spanned, TableAlias, TableAliasColumnDef, TableFactor, Top, Visitor, WildcardAdditionalOptions,
    WindowSpec, WindowType, With,
};

use super::collate::is_sensitive;
use super::error::{Error, Kind, Result};
use super::walk::{Tree, look_at};

/// The executor of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The lanes of ADS SQL, with DataFusion behind them.
    Lanes,
    /// DataFusion's planner only.
    Planner,
}

/// Refuses the first clause in a tree that this executor would ignore.
///
/// # Errors
/// [`Kind::Unsupported`], with the clause's name and place.
pub fn refuse_ignored(tree: &impl Tree, reader: Reader) -> Result<()> {
    look_at(tree, &mut Clauses { reader })
}

struct Clauses {
    reader: Reader,
}

/// A clause by its name, and whether it is there.
type Clause = (bool, &'static str);

impl Visitor for Clauses {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        at(query, self.query(query))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Error> {
        at(select, self.select(select))
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        at(factor, self.table_factor(factor))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        match self.expr(expr) {
            // Finding the place of an expression walks all of it.
            Ok(()) => ControlFlow::Continue(()),
            found => at(expr, found),
        }
    }
}

fn at(node: &impl Spanned, found: Result<(), &'static str>) -> ControlFlow<Error> {
    match found {
        Ok(()) => ControlFlow::Continue(()),
        Err(clause) => {
            let error = Error::new(Kind::Unsupported, format!("{clause} is not supported"));
            ControlFlow::Break(error.at(node.span().start))
        }
    }
}

/// The first of some clauses that is there.
fn none_of(clauses: &[Clause]) -> Result<(), &'static str> {
    match clauses.iter().find(|(is_there, _)| *is_there) {
        Some((_, name)) => Err(name),
        None => Ok(()),
    }
}

/// Whether a type says how many digits a second has, or how many bytes a value, which conversions do not look at.
fn has_lost_precision(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(digits, _) | DataType::Time(digits, _) | DataType::Datetime(digits) => {
            digits.is_some_and(|digits| digits < 3)
        }
        DataType::Binary(length) => length.is_some(),
        DataType::Varbinary(length) => length.is_some(),
        _ => false,
    }
}

impl Clauses {
    /// Whether a clause is obeyed by DataFusion only.
    fn is_for_lanes(&self) -> bool {
        self.reader == Reader::Lanes
    }

    fn query(&self, query: &Query) -> Result<(), &'static str> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        if let Some(With {
            with_token: _,
            recursive: _,
            cte_tables,
        }) = with
        {
            for Cte {
                alias,
                query: _,
                from,
                // Whether it is computed once changes no row.
                materialized: _,
                closing_paren_token: _,
            } in cte_tables
            {
                none_of(&[(from.is_some(), "FROM after a WITH query")])?;
                table_alias(Some(alias))?;
            }
        }
        self.set_expr(body)?;
        if let Some(OrderBy { kind, interpolate }) = order_by {
            none_of(&[(interpolate.is_some(), "INTERPOLATE")])?;
            match kind {
                OrderByKind::All(_) => none_of(&[(self.is_for_lanes(), "ORDER BY ALL")])?,
                OrderByKind::Expressions(keys) => order_keys(keys)?,
            }
        }
        match limit_clause {
            Some(LimitClause::LimitOffset {
                limit: _,
                offset: _,
                limit_by,
            }) => none_of(&[(!limit_by.is_empty(), "LIMIT … BY")])?,
            Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) | None => {}
        }
        if let Some(Fetch {
            with_ties,
            percent,
            quantity: _,
        }) = fetch
        {
            none_of(&[
                (*with_ties, "FETCH … WITH TIES"),
                (*percent, "FETCH … PERCENT"),
                (!self.is_for_lanes(), "FETCH FIRST (write LIMIT)"),
            ])?;
        }
        none_of(&[
            (!locks.is_empty(), "FOR UPDATE, or FOR SHARE,"),
            (for_clause.is_some(), "FOR XML, JSON or BROWSE"),
            (settings.is_some(), "SETTINGS"),
            (format_clause.is_some(), "FORMAT"),
            (!pipe_operators.is_empty(), "The pipe |>"),
        ])
    }

    fn set_expr(&self, body: &SetExpr) -> Result<(), &'static str> {
        match body {
            SetExpr::SetOperation {
                left,
                op: _,
                set_quantifier,
                right,
            } => {
                match set_quantifier {
                    SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None => {}
                    SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName => {
                        none_of(&[(self.is_for_lanes(), "UNION BY NAME")])?;
                    }
                }
                self.set_expr(left)?;
                self.set_expr(right)
            }
            // Visited by themselves.
            SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => Ok(()),
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Err("A change within a query")
            }
            SetExpr::Table(_) => none_of(&[(self.is_for_lanes(), "TABLE as a query")]),
        }
    }

    fn select(&self, select: &Select) -> Result<(), &'static str> {
        let lanes = self.is_for_lanes();
        let Select {
            select_token: _,
            // They change no row.
            optimizer_hints: _,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection: _,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having: _,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        match distinct {
            Some(Distinct::On(_)) => none_of(&[(lanes, "DISTINCT ON")])?,
            Some(Distinct::All | Distinct::Distinct) | None => {}
        }
        if let Some(Top {
            with_ties,
            percent,
            quantity: _,
        }) = top
        {
            none_of(&[
                (*with_ties, "TOP … WITH TIES"),
                (*percent && !lanes, "TOP … PERCENT"),
                (!lanes, "TOP (write LIMIT)"),
            ])?;
        }
        for item in projection {
            match item {
                SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { expr: _, alias: _ } => {}
                SelectItem::ExprWithAliases { expr: _, aliases: _ } => return Err("Several names of one column"),
                SelectItem::QualifiedWildcard(_, options) | SelectItem::Wildcard(options) => self.wildcard(options)?,
            }
        }
        match group_by {
            GroupByExpr::All(modifiers) => none_of(&[
                (lanes, "GROUP BY ALL"),
                (!modifiers.is_empty(), "WITH ROLLUP, CUBE, TOTALS or GROUPING SETS"),
            ])?,
            GroupByExpr::Expressions(_, modifiers) => {
                none_of(&[(!modifiers.is_empty(), "WITH ROLLUP, CUBE, TOTALS or GROUPING SETS")])?;
            }
        }
        for table in from {
            for join in &table.joins {
                joined(join)?;
            }
        }
        for NamedWindowDefinition(_, window) in named_window {
            match window {
                NamedWindowExpr::NamedWindow(_) => {}
                NamedWindowExpr::WindowSpec(window) => window_spec(window)?,
            }
        }
        match flavor {
            SelectFlavor::Standard | SelectFlavor::FromFirst => {}
            SelectFlavor::FromFirstNoSelect => return Err("FROM without SELECT"),
        }
        none_of(&[
            (select_modifiers.is_some(), "A modifier of SELECT, as STRAIGHT_JOIN,"),
            (exclude.is_some(), "EXCLUDE after the columns"),
            (into.is_some() && !lanes, "INTO"),
            (!lateral_views.is_empty(), "LATERAL VIEW"),
            (prewhere.is_some(), "PREWHERE"),
            (!connect_by.is_empty(), "CONNECT BY"),
            (!cluster_by.is_empty(), "CLUSTER BY"),
            (!distribute_by.is_empty(), "DISTRIBUTE BY"),
            (!sort_by.is_empty(), "SORT BY"),
            (qualify.is_some() && lanes, "QUALIFY"),
            (value_table_mode.is_some(), "SELECT AS STRUCT or VALUE"),
        ])
    }

    fn wildcard(&self, options: &WildcardAdditionalOptions) -> Result<(), &'static str> {
        let lanes = self.is_for_lanes();
        let WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        none_of(&[
            (opt_ilike.is_some(), "* ILIKE"),
            (opt_exclude.is_some() && lanes, "* EXCLUDE"),
            (opt_except.is_some() && lanes, "* EXCEPT"),
            (opt_replace.is_some() && lanes, "* REPLACE"),
            (opt_rename.is_some(), "* RENAME"),
            (opt_alias.is_some(), "A name of *"),
        ])
    }

    fn table_factor(&self, factor: &TableFactor) -> Result<(), &'static str> {
        match factor {
            TableFactor::Table {
                name: _,
                alias,
                args: _,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                none_of(&[
                    (!with_hints.is_empty(), "WITH (hints) after a table"),
                    (version.is_some(), "A version of a table, as FOR SYSTEM_TIME,"),
                    (*with_ordinality, "WITH ORDINALITY"),
                    (!partitions.is_empty(), "PARTITION of a table"),
                    (json_path.is_some(), "A path into a table"),
                    (sample.is_some(), "TABLESAMPLE"),
                    (!index_hints.is_empty(), "USE, IGNORE or FORCE INDEX"),
                ])?;
                table_alias(alias.as_ref())
            }
            TableFactor::Derived {
                lateral,
                subquery: _,
                alias,
                sample,
            } => {
                none_of(&[
                    (*lateral && self.is_for_lanes(), "LATERAL"),
                    (sample.is_some(), "TABLESAMPLE"),
                ])?;
                table_alias(alias.as_ref())
            }
            TableFactor::TableFunction { expr: _, alias } => table_alias(alias.as_ref()),
            TableFactor::Function {
                lateral: _,
                name: _,
                args: _,
                with_ordinality,
                alias,
            } => {
                none_of(&[(*with_ordinality, "WITH ORDINALITY")])?;
                table_alias(alias.as_ref())
            }
            TableFactor::UNNEST {
                alias,
                array_exprs: _,
                with_offset,
                with_offset_alias,
                with_ordinality,
            } => {
                none_of(&[
                    (*with_offset || with_offset_alias.is_some(), "WITH OFFSET"),
                    (*with_ordinality, "WITH ORDINALITY"),
                ])?;
                table_alias(alias.as_ref())
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => {
                for join in &table_with_joins.joins {
                    joined(join)?;
                }
                none_of(&[(alias.is_some(), "A name of a join in parentheses")])
            }
            TableFactor::JsonTable { .. } => Err("JSON_TABLE"),
            TableFactor::OpenJsonTable { .. } => Err("OPENJSON"),
            TableFactor::Pivot { .. } => Err("PIVOT"),
            TableFactor::Unpivot { .. } => Err("UNPIVOT"),
            TableFactor::MatchRecognize { .. } => Err("MATCH_RECOGNIZE"),
            TableFactor::XmlTable { .. } => Err("XMLTABLE"),
            TableFactor::SemanticView { .. } => Err("SEMANTIC_VIEW"),
        }
    }

    /// Only nodes with clauses are named; the others are refused by who evaluates them, where it does not know them.
    fn expr(&self, expr: &Expr) -> Result<(), &'static str> {
        match expr {
            Expr::Collate { expr: _, collation } if is_sensitive(collation) => Ok(()),
            Expr::Collate { expr: _, collation: _ } => Err("COLLATE"),
            Expr::OuterJoin(_) => Err("(+)"),
            Expr::Prior(_) => Err("PRIOR"),
            Expr::Like {
                negated: _,
                any,
                expr: _,
                pattern: _,
                escape_char: _,
            }
            | Expr::ILike {
                negated: _,
                any,
                expr: _,
                pattern: _,
                escape_char: _,
            } => none_of(&[(*any, "LIKE ANY")]),
            Expr::Convert {
                is_try,
                expr: _,
                data_type: _,
                charset,
                target_before_value: _,
                styles,
            } => none_of(&[
                (*is_try, "TRY_CONVERT"),
                (charset.is_some(), "CONVERT … USING"),
                (!styles.is_empty(), "The style of CONVERT"),
            ]),
            Expr::Cast {
                kind: _,
                expr: _,
                data_type,
                array,
                format,
            } => none_of(&[
                (*array, "CAST … AS … ARRAY"),
                (format.is_some(), "CAST … FORMAT"),
                (
                    has_lost_precision(data_type),
                    "The precision of a time, or the length of bytes, in CAST",
                ),
            ]),
            Expr::Ceil { expr: _, field } | Expr::Floor { expr: _, field } => match field {
                CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => Ok(()),
                CeilFloorKind::DateTimeField(_) => Err("CEIL or FLOOR TO a part of a date"),
                CeilFloorKind::Scale(_) => Err("CEIL or FLOOR with a scale"),
            },
            Expr::Function(function) => self.function(function),
            _ => Ok(()),
        }
    }

    fn function(&self, function: &Function) -> Result<(), &'static str> {
        let lanes = self.is_for_lanes();
        let Function {
            name,
            uses_odbc_syntax: _,
            parameters,
            args,
            filter,
            null_treatment,
            over,
            within_group,
        } = function;
        match parameters {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(_) | FunctionArguments::List(_) => return Err("Parameters before arguments"),
        }
        match args {
            FunctionArguments::None | FunctionArguments::Subquery(_) => {}
            FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment: _,
                args: _,
                clauses,
            }) => {
                for clause in clauses {
                    match clause {
                        FunctionArgumentClause::OrderBy(keys) => {
                            let concatenates = name.to_string().eq_ignore_ascii_case("GROUP_CONCAT");
                            none_of(&[(lanes && !concatenates, "ORDER BY within a function")])?;
                            order_keys(keys)?;
                        }
                        FunctionArgumentClause::IgnoreOrRespectNulls(_) => {
                            none_of(&[(lanes, "IGNORE or RESPECT NULLS")])?;
                        }
                        FunctionArgumentClause::Limit(_) => return Err("LIMIT within a function"),
                        FunctionArgumentClause::OnOverflow(_) => return Err("ON OVERFLOW"),
                        FunctionArgumentClause::Having(_) => return Err("HAVING within a function"),
                        FunctionArgumentClause::Separator(_) => return Err("SEPARATOR"),
                        FunctionArgumentClause::JsonNullClause(_) => return Err("NULL or ABSENT ON NULL"),
                        FunctionArgumentClause::JsonReturningClause(_) => return Err("RETURNING"),
                    }
                }
            }
        }
        order_keys(within_group)?;
        match over {
            Some(WindowType::WindowSpec(window)) => window_spec(window)?,
            Some(WindowType::NamedWindow(_)) | None => {}
        }
        none_of(&[
            (filter.is_some() && lanes, "FILTER"),
            (null_treatment.is_some() && lanes, "IGNORE or RESPECT NULLS"),
            (!within_group.is_empty() && lanes, "WITHIN GROUP"),
        ])
    }
}

fn joined(join: &Join) -> Result<(), &'static str> {
    let Join {
        relation: _,
        global,
        join_operator,
    } = join;
    none_of(&[(*global, "GLOBAL JOIN")])?;
    match join_operator {
        JoinOperator::Join(_)
        | JoinOperator::Inner(_)
        | JoinOperator::Left(_)
        | JoinOperator::LeftOuter(_)
        | JoinOperator::Right(_)
        | JoinOperator::RightOuter(_)
        | JoinOperator::FullOuter(_)
        | JoinOperator::CrossJoin(_)
        | JoinOperator::Semi(_)
        | JoinOperator::LeftSemi(_)
        | JoinOperator::RightSemi(_)
        | JoinOperator::Anti(_)
        | JoinOperator::LeftAnti(_)
        | JoinOperator::RightAnti(_) => Ok(()),
        JoinOperator::CrossApply | JoinOperator::OuterApply => Err("APPLY"),
        JoinOperator::AsOf {
            match_condition: _,
            constraint: _,
        } => Err("ASOF JOIN"),
        JoinOperator::StraightJoin(_) => Err("STRAIGHT_JOIN"),
        JoinOperator::ArrayJoin | JoinOperator::LeftArrayJoin | JoinOperator::InnerArrayJoin => Err("ARRAY JOIN"),
    }
}

fn window_spec(window: &WindowSpec) -> Result<(), &'static str> {
    let WindowSpec {
        window_name: _,
        partition_by: _,
        order_by,
        window_frame: _,
    } = window;
    order_keys(order_by)
}

fn order_keys(keys: &[OrderByExpr]) -> Result<(), &'static str> {
    for OrderByExpr {
        expr: _,
        options: _,
        with_fill,
    } in keys
    {
        none_of(&[(with_fill.is_some(), "WITH FILL")])?;
    }
    Ok(())
}

fn table_alias(alias: Option<&TableAlias>) -> Result<(), &'static str> {
    let Some(TableAlias {
        explicit: _,
        name: _,
        columns,
        at,
    }) = alias
    else {
        return Ok(());
    };
    for TableAliasColumnDef { name: _, data_type } in columns {
        none_of(&[(data_type.is_some(), "The type of a column in the name of a table")])?;
    }
    none_of(&[(at.is_some(), "AT after the name of a table")])
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::parser::Parser;

    use super::super::parse;
    use super::*;

    /// What a reader says of a query, or nothing.
    fn refused(sql: &str, reader: Reader) -> Option<String> {
        let mut statements = Parser::parse_sql(&GenericDialect {}, sql).expect(sql);
        let statement = statements.pop().expect(sql);
        refuse_ignored(&statement, reader).err().map(|error| error.to_string())
    }

    #[test]
    fn clauses_that_nobody_obeys_are_refused_by_name() {
        for (sql, clause) in [
            ("SELECT a FROM t WHERE c COLLATE ads_default_ci = 'x'", "COLLATE"),
            ("SELECT a FROM t ORDER BY c COLLATE de", "COLLATE"),
            ("SELECT a FROM t TABLESAMPLE (10 PERCENT)", "TABLESAMPLE"),
            ("SELECT a FROM t FOR UPDATE", "FOR UPDATE"),
            ("SELECT a FROM t SETTINGS max_threads = 1", "SETTINGS"),
            ("SELECT a FROM t FORMAT CSV", "FORMAT"),
            ("SELECT a FROM t PREWHERE a = 1", "PREWHERE"),
            ("SELECT a FROM t SORT BY a", "SORT BY"),
            ("SELECT a FROM t ORDER BY a WITH FILL", "WITH FILL"),
            ("SELECT a FROM t LIMIT 1 BY a", "LIMIT … BY"),
            ("SELECT a FROM t FETCH FIRST 10 PERCENT ROWS ONLY", "FETCH … PERCENT"),
            ("SELECT a FROM t FETCH FIRST 1 ROWS WITH TIES", "FETCH … WITH TIES"),
            ("SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP", "WITH ROLLUP"),
            ("SELECT GROUP_CONCAT(a SEPARATOR ';') FROM t", "SEPARATOR"),
            ("SELECT quantile(0.5)(a) FROM t", "Parameters before arguments"),
            ("SELECT a FROM t GLOBAL JOIN u ON t.a = u.a", "GLOBAL JOIN"),
            ("SELECT a FROM t ASOF JOIN u MATCH_CONDITION (t.a > u.a)", "ASOF JOIN"),
            ("SELECT a FROM t CROSS APPLY u", "APPLY"),
            ("SELECT a FROM t WHERE a LIKE ANY ('x')", "LIKE ANY"),
            ("SELECT CAST(a AS DATE FORMAT 'YYYY') FROM t", "CAST … FORMAT"),
            ("SELECT * RENAME (a AS b) FROM t", "* RENAME"),
            ("SELECT a FROM (SELECT a FROM t TABLESAMPLE (1 ROWS)) x", "TABLESAMPLE"),
            ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u FOR SHARE)", "FOR UPDATE"),
        ] {
            for reader in [Reader::Lanes, Reader::Planner] {
                let told = refused(sql, reader).unwrap_or_default();
                assert!(told.contains(clause), "{reader:?} says {told:?} of {sql}");
            }
        }
    }

    #[test]
    fn what_datafusion_obeys_is_refused_for_the_lanes_alone() {
        for sql in [
            "SELECT DISTINCT ON (a) a, b FROM t",
            "SELECT * EXCLUDE (a) FROM t",
            "SELECT SUM(a) FILTER (WHERE b > 1) FROM t",
            "SELECT a, ROW_NUMBER() OVER (ORDER BY a) AS n FROM t QUALIFY n = 1",
            "SELECT array_agg(a ORDER BY b) FROM t",
            "SELECT a FROM t UNION BY NAME SELECT a FROM u",
        ] {
            assert!(refused(sql, Reader::Lanes).is_some(), "{sql}");
            assert_eq!(refused(sql, Reader::Planner), None, "{sql}");
        }
        for sql in [
            "SELECT a, COUNT(*) OVER (PARTITION BY b ORDER BY c) FROM t x JOIN u ON x.a = u.a WHERE b IN (SELECT c FROM v)",
            "WITH w (a) AS (SELECT 1) SELECT CAST(a AS INT), CEIL(a) FROM w GROUP BY a HAVING a > 1 ORDER BY a DESC LIMIT 3",
        ] {
            assert_eq!(refused(sql, Reader::Lanes), None, "{sql}");
        }
    }

    #[test]
    fn the_grammar_of_ads_refuses_them_too() {
        for sql in [
            "SELECT a FROM t GROUP BY c COLLATE ads_default_ci",
            "UPDATE t SET a = c COLLATE ads_default_ci",
            "SELECT a FROM t WHERE c COLLATE ads_default_ci IN (SELECT c FROM u)",
            "DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE c COLLATE de = 'x')",
        ] {
            let told = parse(sql).expect_err(sql).to_string();
            assert!(told.contains("COLLATE") && told.contains("is not supported"), "{told}");
        }
    }
}
