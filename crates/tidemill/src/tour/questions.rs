//! The questions of the tour: five about its books, or five about the user's own tables.

use arrow_schema::{DataType, Field, SchemaRef};
use tidemill_clickhouse::sql_text;
use tidemill_sql::{Location, Session};

/// A question and its SQL. Every statement sorts its whole result, so that results can be compared.
pub(crate) struct Question {
    pub(crate) title: String,
    pub(crate) sql: String,
    /// The same in ClickHouse's SQL, in a form that old servers accept too: one join at a time by `USING`, of named subqueries, no date
    /// literals, no decimals from subqueries in conditions.
    pub(crate) clickhouse: String,
}

impl Question {
    fn new(title: impl Into<String>, sql: impl Into<String>, clickhouse: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            sql: sql.into(),
            clickhouse: clickhouse.into(),
        }
    }
}

pub(crate) fn about_books() -> Vec<Question> {
    vec![
        Question::new(
            "Which countries do we earn most in? (a join of three tables)",
            "SELECT c.country, COUNT(DISTINCT o.order_no) AS orders, SUM(l.amount) AS revenue \
             FROM customers c JOIN orders o ON o.cust_no = c.cust_no JOIN lines l ON l.order_no = o.order_no \
             GROUP BY c.country ORDER BY revenue DESC",
            "SELECT COUNTRY, uniqExact(ORDER_NO) AS orders, sum(AMOUNT) AS revenue FROM LINES \
             ALL INNER JOIN (SELECT ORDER_NO, COUNTRY FROM ORDERS \
             ALL INNER JOIN (SELECT CUST_NO, COUNTRY FROM CUSTOMERS) AS c USING CUST_NO) AS o USING ORDER_NO \
             GROUP BY COUNTRY ORDER BY revenue DESC",
        ),
        Question::new(
            "How do the categories sell? (a group)",
            "SELECT p.category, COUNT(*) AS sold, SUM(l.quantity) AS pieces, SUM(l.amount) AS revenue \
             FROM lines l JOIN products p ON p.prod_no = l.prod_no GROUP BY p.category ORDER BY p.category",
            "SELECT CATEGORY, count() AS sold, sum(QUANTITY) AS pieces, sum(AMOUNT) AS revenue FROM LINES \
             ALL INNER JOIN (SELECT PROD_NO, CATEGORY FROM PRODUCTS) AS p USING PROD_NO GROUP BY CATEGORY ORDER BY CATEGORY",
        ),
        Question::new(
            "Who are our ten best customers? (a top ten)",
            "SELECT c.cust_no, c.name, c.city, SUM(l.amount) AS revenue \
             FROM lines l JOIN orders o ON o.order_no = l.order_no JOIN customers c ON c.cust_no = o.cust_no \
             GROUP BY c.cust_no, c.name, c.city ORDER BY revenue DESC, c.cust_no LIMIT 10",
            "SELECT CUST_NO, NAME, CITY, sum(AMOUNT) AS revenue FROM LINES \
             ALL INNER JOIN (SELECT ORDER_NO, CUST_NO, NAME, CITY FROM ORDERS \
             ALL INNER JOIN (SELECT CUST_NO, NAME, CITY FROM CUSTOMERS) AS c USING CUST_NO) AS o USING ORDER_NO \
             GROUP BY CUST_NO, NAME, CITY ORDER BY revenue DESC, CUST_NO LIMIT 10",
        ),
        Question::new(
            "Which big orders were never shipped, and what do the notes say? (a filter)",
            "SELECT o.order_no, o.ordered, o.total, o.notes FROM orders o \
             WHERE o.shipped IS NULL AND o.total > 20000 AND o.notes <> '' ORDER BY o.total DESC, o.order_no LIMIT 8",
            "SELECT ORDER_NO, ORDERED, TOTAL, NOTES FROM ORDERS \
             WHERE SHIPPED IS NULL AND TOTAL > 20000 AND NOTES != '' ORDER BY TOTAL DESC, ORDER_NO LIMIT 8",
        ),
        Question::new(
            "How did the spring of 2024 go? (a date range)",
            "SELECT EXTRACT(MONTH FROM o.ordered) AS month, COUNT(*) AS orders, SUM(o.total) AS total \
             FROM orders o WHERE o.ordered BETWEEN DATE '2024-03-01' AND DATE '2024-05-31' \
             GROUP BY EXTRACT(MONTH FROM o.ordered) ORDER BY month",
            "SELECT toMonth(ORDERED) AS month, count() AS orders, sum(TOTAL) AS total FROM ORDERS \
             WHERE ORDERED BETWEEN '2024-03-01' AND '2024-05-31' GROUP BY month ORDER BY month",
        ),
    ]
}

/// Questions about unknown tables: what their columns allow of a join, a group, a top ten, a filter and a date range.
pub(crate) async fn about(session: &Session, tables: &[Location]) -> anyhow::Result<Vec<Question>> {
    let mut known = Vec::new();
    for table in tables {
        let bytes = table.bytes()?.unwrap_or_default();
        known.push(Known {
            name: identifier(&table.table_name()),
            alias: table.table_name(),
            schema: session.schema(table).await?,
            bytes,
        });
    }
    // The largest tables are the most interesting.
    known.sort_by_key(|table| std::cmp::Reverse(table.bytes));

    let mut questions = Vec::new();
    questions.extend(join(&known));
    questions.extend(known.iter().find_map(group));
    questions.extend(known.iter().find_map(top_ten));
    questions.extend(known.iter().find_map(filter));
    questions.extend(known.iter().find_map(date_range));
    for table in known.iter().take(5 - questions.len().min(5)) {
        questions.push(Question::new(
            format!("How many records has {}?", table.alias),
            format!("SELECT COUNT(*) AS records FROM {}", table.name),
            format!("SELECT count() AS records FROM {}", table.clickhouse()),
        ));
    }
    Ok(questions)
}

struct Known {
    name: String,
    alias: String,
    schema: SchemaRef,
    bytes: u64,
}

impl Known {
    fn column(&self, fits: impl Fn(&DataType) -> bool) -> Option<&Field> {
        let mut fields = self.schema.fields().iter();
        fields.find(|field| fits(field.data_type())).map(AsRef::as_ref)
    }

    /// The name as ClickHouse's SQL needs it.
    fn clickhouse(&self) -> String {
        sql_text::name(&self.alias)
    }
}

fn join(known: &[Known]) -> Option<Question> {
    for (index, left) in known.iter().enumerate() {
        for right in &known[index + 1..] {
            let shared = left.schema.fields().iter().find_map(|field| {
                let twin = right
                    .schema
                    .fields()
                    .iter()
                    .find(|other| other.name().eq_ignore_ascii_case(field.name()));
                twin.filter(|twin| twin.data_type() == field.data_type() && is_key(field.data_type()))
                    .map(|twin| (field, twin))
            });
            if let Some((field, twin)) = shared {
                let column = identifier(field.name());
                let (key, other) = (sql_text::name(field.name()), sql_text::name(twin.name()));
                return Some(Question::new(
                    format!(
                        "Which {} of {} are also in {}? (a join)",
                        field.name(),
                        left.alias,
                        right.alias
                    ),
                    format!(
                        "SELECT a.{column}, COUNT(*) AS matches FROM {} a JOIN (SELECT DISTINCT {column} FROM {}) b \
                         ON a.{column} = b.{column} GROUP BY a.{column} ORDER BY matches DESC, a.{column} LIMIT 10",
                        left.name, right.name
                    ),
                    format!(
                        "SELECT {key}, count() AS matches FROM {} WHERE {key} IN (SELECT {other} FROM {}) \
                         GROUP BY {key} ORDER BY matches DESC, {key} LIMIT 10",
                        left.clickhouse(),
                        right.clickhouse()
                    ),
                ));
            }
        }
    }
    None
}

fn group(table: &Known) -> Option<Question> {
    let column = table.column(is_text)?.name();
    let (quoted, name) = (identifier(column), sql_text::name(column));
    Some(Question::new(
        format!("How often does each {column} occur in {}? (a group)", table.alias),
        format!(
            "SELECT {quoted}, COUNT(*) AS occurs FROM {} GROUP BY {quoted} ORDER BY occurs DESC, {quoted} LIMIT 15",
            table.name
        ),
        format!(
            "SELECT {name}, count() AS occurs FROM {} GROUP BY {name} ORDER BY occurs DESC, {name} NULLS FIRST LIMIT 15",
            table.clickhouse()
        ),
    ))
}

fn top_ten(table: &Known) -> Option<Question> {
    let column = table.column(is_exact_number)?.name();
    let (quoted, name) = (identifier(column), sql_text::name(column));
    Some(Question::new(
        format!("What are the ten largest {column} of {}? (a top ten)", table.alias),
        format!(
            "SELECT {quoted} FROM {} ORDER BY {quoted} DESC NULLS LAST LIMIT 10",
            table.name
        ),
        format!(
            "SELECT {name} FROM {} ORDER BY {name} DESC NULLS LAST LIMIT 10",
            table.clickhouse()
        ),
    ))
}

fn filter(table: &Known) -> Option<Question> {
    let field = table.column(is_exact_number)?;
    let column = field.name();
    let (quoted, name, from) = (identifier(column), &table.name, table.clickhouse());
    let value = match field.data_type() {
        DataType::Decimal128(_, scale) => format!("CAST({} AS Nullable(Decimal(38, {scale})))", sql_text::name(column)),
        _ => sql_text::name(column),
    };
    Some(Question::new(
        format!(
            "How many records of {} have a {column} above the average? (a filter)",
            table.alias
        ),
        format!("SELECT COUNT(*) AS records FROM {name} WHERE {quoted} > (SELECT AVG({quoted}) FROM {name})"),
        format!(
            "SELECT count() AS records FROM (SELECT 1 AS one, {value} AS value FROM {from}) AS each \
             ALL INNER JOIN (SELECT 1 AS one, sum({value}) AS total, count({value}) AS known FROM {from}) AS whole USING one \
             WHERE value * known > total"
        ),
    ))
}

fn date_range(table: &Known) -> Option<Question> {
    let column = table.column(|data_type| matches!(data_type, DataType::Date32 | DataType::Timestamp(..)))?;
    let column = column.name();
    let (quoted, name) = (identifier(column), sql_text::name(column));
    Some(Question::new(
        format!(
            "How many records of {} does each of the last ten years of {column} have? (a date range)",
            table.alias
        ),
        format!(
            "SELECT EXTRACT(YEAR FROM {quoted}) AS year, COUNT(*) AS records FROM {} WHERE {quoted} >= DATE '1900-01-01' \
             GROUP BY EXTRACT(YEAR FROM {quoted}) ORDER BY year DESC LIMIT 10",
            table.name
        ),
        format!(
            "SELECT toYear({name}) AS year, count() AS records FROM {} WHERE toYear({name}) >= 1900 \
             GROUP BY year ORDER BY year DESC LIMIT 10",
            table.clickhouse()
        ),
    ))
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8)
}

/// Types that all stores write in the same way.
fn is_key(data_type: &DataType) -> bool {
    is_text(data_type) || is_exact_number(data_type) || *data_type == DataType::Date32
}

/// Types whose sums and averages do not depend on the order of rows.
fn is_exact_number(data_type: &DataType) -> bool {
    data_type.is_integer() || data_type.is_decimal()
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
