//! How deep a statement may nest.
//!
//! A chain of operators is a tree as deep as it is long, and trees are walked, copied and dropped by recursion. So its length is limited
//! before anything is parsed. Conditions in a list are the exception, which programs write by the thousand: `a = 1 OR a = 2 OR …` becomes
//! a tree that is as flat as it can be.

use std::mem;
use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Value, VisitorMut};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::distinct_from::part_distinct_from;
use super::error::{Error, Kind, Result};
use super::walk::{Tree, change};

/// The most operations that an expression has, one in another.
const MAX_CHAIN: usize = 1000;

/// The most conditions that a statement joins by AND and OR.
const MAX_CONDITIONS: usize = 5000;

/// The most queries that a statement joins by UNION, EXCEPT and INTERSECT.
const MAX_QUERIES: usize = 500;

/// How deep what sqlparser reads twice may nest.
const MAX_RETRIED: usize = 8;

/// What surrounds a place in parentheses.
#[derive(Default)]
struct Level {
    /// How deep the tree is of what stands here.
    chain: usize,
    /// How deep those before it were.
    deepest: usize,
    is_retried: bool,
    /// BETWEEN whose AND has not come.
    open_betweens: usize,
}

impl Level {
    /// What follows is a tree of its own.
    fn restart(&mut self) {
        self.deepest = self.deepest.max(self.chain);
        self.chain = 0;
    }
}

/// What begins with a word like CASE is read twice when it is wrong, so these nest even less: each level would double the time.
///
/// # Errors
/// [`Kind::Limit`] for an expression with too many operators, those of the parentheses around it counted, for too many conditions, and for
/// CASE, CAST and their like too deep within each other.
pub fn limit_nesting(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut outer: Vec<Level> = Vec::new();
    let mut here = Level::default();
    let (mut whole, mut retried, mut conditions, mut queries) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut before = Keyword::NoKeyword;
    for token in tokens {
        let mut word_here = Keyword::NoKeyword;
        match &token.token {
            Token::LParen | Token::LBracket => {
                here.is_retried = is_read_twice(before);
                retried += usize::from(here.is_retried);
                whole += here.chain;
                outer.push(mem::take(&mut here));
            }
            Token::RParen | Token::RBracket => {
                let inner = here.chain.max(here.deepest);
                here = outer.pop().unwrap_or_default();
                whole = whole.saturating_sub(here.chain);
                retried = retried.saturating_sub(usize::from(here.is_retried));
                // What follows may lie around it.
                here.chain = here.chain.max(inner);
            }
            Token::Comma | Token::SemiColon => here.restart(),
            Token::Word(word) if word.quote_style.is_none() => {
                word_here = word.keyword;
                match word.keyword {
                    Keyword::CASE => retried += 1,
                    Keyword::END => retried = retried.saturating_sub(1),
                    Keyword::BETWEEN => {
                        here.open_betweens += 1;
                        here.chain += 1;
                    }
                    Keyword::AND if here.open_betweens > 0 => here.open_betweens -= 1,
                    Keyword::AND | Keyword::OR => {
                        conditions += 1;
                        here.restart();
                    }
                    Keyword::LIKE | Keyword::IS | Keyword::COLLATE | Keyword::AT => here.chain += 1,
                    // Whole queries are larger.
                    Keyword::JOIN => here.chain += 20,
                    Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => {
                        here.chain += 20;
                        queries += 1;
                    }
                    Keyword::FROM | Keyword::WHERE | Keyword::SET | Keyword::VALUES => here.restart(),
                    _ => {}
                }
            }
            Token::Whitespace(_) => continue,
            Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_) | Token::Period => {}
            _ => here.chain += 1,
        }
        before = word_here;
        let limit = |why: String| Err(Error::new(Kind::Limit, why).at(token.span.start));
        if whole + here.chain > MAX_CHAIN {
            return limit(format!("An expression of more than {MAX_CHAIN} operations"));
        }
        if conditions > MAX_CONDITIONS {
            return limit(format!(
                "More than {MAX_CONDITIONS} conditions joined by AND and OR: an IN list takes more values"
            ));
        }
        if queries > MAX_QUERIES {
            return limit(format!(
                "More than {MAX_QUERIES} queries joined by UNION, EXCEPT and INTERSECT"
            ));
        }
        if retried > MAX_RETRIED {
            return limit(format!("CASE, CAST and their like nest more than {MAX_RETRIED} deep"));
        }
    }
    Ok(())
}

/// Whether sqlparser tries what follows this word in another way when the first has failed.
fn is_read_twice(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::CAST
            | Keyword::CEIL
            | Keyword::CONVERT
            | Keyword::EXISTS
            | Keyword::EXTRACT
            | Keyword::FLOOR
            | Keyword::OVERLAY
            | Keyword::POSITION
            | Keyword::SUBSTR
            | Keyword::SUBSTRING
            | Keyword::TRIM
            | Keyword::TRY_CAST
            | Keyword::SAFE_CAST
            | Keyword::ARRAY
            | Keyword::STRUCT
            | Keyword::MAP
            | Keyword::INTERVAL
            | Keyword::NOT
    )
}

/// Makes each list of conditions joined by AND, or by OR, a tree that is as flat as it can be. The conditions stay in their order, and
/// what the list means stays the same. What [`join_distinct_from`](super::join_distinct_from) made one operator becomes an expression.
pub fn balance_conditions(statement: &mut impl Tree) {
    // It never breaks off.
    let _ = change(statement, &mut Balance);
}

struct Balance;

impl VisitorMut for Balance {
    type Break = Error;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        part_distinct_from(expr);
        bind_predicate(expr);
        for op in [BinaryOperator::And, BinaryOperator::Or] {
            if is_chain(expr, &op) {
                let conditions = taken_apart(expr, &op);
                *expr = joined(conditions, &op);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Makes IN, BETWEEN and LIKE bind more tightly than comparisons: `TRUE = a IN (1, 2)` is `TRUE = (a IN (1, 2))`, as in PostgreSQL. The
/// parser's generic dialect binds them alike.
fn bind_predicate(expr: &mut Expr) {
    // From the right, so that comparisons stay those of the parser's order.
    if let Expr::Like { pattern, .. } | Expr::ILike { pattern, .. } = expr
        && let Expr::BinaryOp { op, .. } = &**pattern
        && is_comparison(op)
        && let Expr::BinaryOp { left, op, right } = mem::replace(&mut **pattern, nothing())
    {
        *pattern = left;
        let left = Box::new(mem::replace(expr, nothing()));
        *expr = Expr::BinaryOp { left, op, right };
        return;
    }
    let (Expr::InList { expr: first, .. }
    | Expr::InSubquery { expr: first, .. }
    | Expr::Between { expr: first, .. }
    | Expr::Like { expr: first, .. }
    | Expr::ILike { expr: first, .. }
    | Expr::SimilarTo { expr: first, .. }) = expr
    else {
        return;
    };
    if let Expr::BinaryOp { op, .. } = &**first
        && is_comparison(op)
        && let Expr::BinaryOp { left, op, right } = mem::replace(&mut **first, nothing())
    {
        *first = right;
        let right = Box::new(mem::replace(expr, nothing()));
        *expr = Expr::BinaryOp { left, op, right };
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(op, B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq | B::Spaceship)
}

/// Whether an expression is a list of at least three conditions that leans to the left, as the parser makes it.
fn is_chain(expr: &Expr, wanted: &BinaryOperator) -> bool {
    let Expr::BinaryOp { left, op, .. } = expr else {
        return false;
    };
    op == wanted
        && matches!(&**left, Expr::BinaryOp { op, left, .. } if op == wanted && matches!(&**left, Expr::BinaryOp { op, .. } if op == wanted))
}

/// The conditions of a list, without recursion.
fn taken_apart(expr: &mut Expr, wanted: &BinaryOperator) -> Vec<Expr> {
    let mut reversed = Vec::new();
    let mut rest = mem::replace(expr, nothing());
    loop {
        match rest {
            Expr::BinaryOp { left, op, right } if op == *wanted => {
                reversed.push(*right);
                rest = *left;
            }
            first => {
                reversed.push(first);
                reversed.reverse();
                return reversed;
            }
        }
    }
}

fn joined(conditions: Vec<Expr>, op: &BinaryOperator) -> Expr {
    let pair = |left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: op.clone(),
        right: Box::new(right),
    };
    joined_in_pairs(conditions, pair).unwrap_or_else(nothing)
}

/// What stands where an expression was taken out.
fn nothing() -> Expr {
    Expr::value(Value::Null)
}

/// Items joined in pairs, pairs of pairs, and so on; `None` of none.
///
/// A list of conditions that leans to one side takes time that grows with the square of its length wherever each part asks for the types
/// below it.
pub fn joined_in_pairs<T>(mut items: Vec<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    while items.len() > 1 {
        let mut joined = Vec::with_capacity(items.len().div_ceil(2));
        let mut rest = items.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => join(left, right),
                None => left,
            });
        }
        items = joined;
    }
    items.pop()
}

#[cfg(test)]
mod tests {
    use super::super::{dialect::Ads, parse};
    use super::*;
    use sqlparser::dialect::GenericDialect;
    use sqlparser::parser::Parser;

    fn limit_of(sql: &str) -> Option<String> {
        match parse(sql) {
            Err(error) if *error.kind() == Kind::Limit => Some(error.to_string()),
            _ => None,
        }
    }

    #[test]
    fn predicates_bind_more_tightly_than_comparisons() {
        for text in [
            "TRUE = a IN (1, 2)",
            "a = b = c NOT IN (SELECT d FROM t) AND e",
            "FALSE <> a BETWEEN 1 AND 2 OR b",
            "TRUE = a LIKE 'x%' = b",
            "a ILIKE b > c",
            "(TRUE = a) IN (b, c)",
        ] {
            let [mut of_ads, mut generic] = [
                Parser::new(&Ads)
                    .try_with_sql(text)
                    .and_then(|mut parser| parser.parse_expr()),
                Parser::new(&GenericDialect {})
                    .try_with_sql(text)
                    .and_then(|mut parser| parser.parse_expr()),
            ]
            .map(|parsed| parsed.expect(text));
            let shown = |expr: &Expr| {
                let mut parts = Vec::new();
                let _: ControlFlow<()> = super::super::walk::expressions(expr, &mut |part| {
                    parts.push(part.to_string());
                    ControlFlow::Continue(())
                });
                parts
            };
            balance_conditions(&mut of_ads);
            balance_conditions(&mut generic);
            assert_eq!(shown(&generic), shown(&of_ads), "{text}");
        }
    }

    #[test]
    fn what_nests_too_deeply_is_refused_on_a_small_stack() {
        let many = |part: &str, times: usize| part.repeat(times);
        let shapes = [
            format!("SELECT 1{}", many("+1", 20_000)),
            format!("SELECT 'a'{}", many("||'a'", 50_000)),
            format!("SELECT a FROM t WHERE a{}", many(" IS NULL", 20_000)),
            format!("SELECT a FROM t WHERE a{}", many(" BETWEEN 0 AND 1", 20_000)),
            format!("SELECT a FROM t WHERE a=1{}", many(" AND a<>2", 20_000)),
            format!("SELECT a FROM t WHERE a=1{}", many(" OR a<>2", 20_000)),
            format!(
                "SELECT {}1{}",
                many("(", 30),
                many(&format!("{})", many("+1", 900)), 30)
            ),
            format!("SELECT 1{}", many(" UNION SELECT 1", 20_000)),
            format!("SELECT a FROM p{}", many(" UNION ALL SELECT a FROM p", 1000)),
        ];
        let tested = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
            for sql in &shapes {
                assert!(limit_of(sql).is_some(), "{}", sql.get(..60).unwrap_or(sql));
            }
        });
        tested.expect("a thread").join().expect("no overflow");
    }

    #[test]
    fn lists_of_conditions_are_long_and_flat() {
        let tested = std::thread::Builder::new().stack_size(2 << 20).spawn(|| {
            for op in ["AND", "OR"] {
                let list: Vec<String> = (0..5000).map(|id| format!("(id<>{id})")).collect();
                let sql = format!("SELECT id FROM t WHERE {}", list.join(&format!(" {op} ")));
                let statements = parse(&sql).expect("parsed");
                assert!(format!("{:?}", statements.first()).contains("4999"));
            }
        });
        tested.expect("a thread").join().expect("no overflow");
    }

    #[test]
    fn conditions_keep_their_order_and_meaning() {
        let balanced = |sql: &str| {
            let mut parser = Parser::new(&Ads).try_with_sql(sql).expect(sql);
            let mut expr = parser.parse_expr().expect(sql);
            balance_conditions(&mut expr);
            fn grouped(expr: &Expr) -> String {
                match expr {
                    Expr::BinaryOp { left, op, right } => format!("({} {op} {})", grouped(left), grouped(right)),
                    other => other.to_string(),
                }
            }
            grouped(&expr)
        };
        assert_eq!(
            balanced("a AND b AND c AND d AND e"),
            "(((a AND b) AND (c AND d)) AND e)"
        );
        assert_eq!(
            balanced("a OR b OR c OR d AND e AND f AND g"),
            "((a OR b) OR (c OR ((d AND e) AND (f AND g))))"
        );
        assert_eq!(balanced("a AND b"), "(a AND b)");
        assert_eq!(balanced("a + b + c + d"), "(((a + b) + c) + d)");
    }
}
