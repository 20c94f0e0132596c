//! Joins through `AdsExecuteSQLDirect`, which `libtidemill_adbc.so` answers, beside DuckDB with two threads and SQLite.
//!
//! 5,000 customers have 50,000 orders of 200,000 lines, from a fixed seed.

use std::{fmt::Write as _, path::Path, time::Duration};

use super::{
    Spread,
    abi::{Outcome, loaded},
    abi_sql::{Session, SqlLine, Workload, workload},
    rivals::{self, RivalTable},
};

/// The variable by which `libace.so` is told where the other library is.
pub const LIBRARY: &str = "TIDEMILL_ANALYTICAL_LIBRARY";

const WORKLOADS: [Workload; 4] = [
    workload(
        "join, grouped",
        "SELECT c.CITY, COUNT(*) AS n, SUM(l.PRICE) AS total FROM lines l JOIN orders o ON o.ID = l.ORDERID \
         JOIN customers c ON c.ID = o.CUST GROUP BY c.CITY ORDER BY c.CITY",
        f64::INFINITY,
    ),
    workload(
        "join, filtered",
        "SELECT l.ID, c.NAME FROM lines l JOIN orders o ON o.ID = l.ORDERID JOIN customers c ON c.ID = o.CUST \
         WHERE c.CITY = 'C07' AND l.PRICE > 990 ORDER BY l.ID",
        f64::INFINITY,
    ),
    workload(
        "IN (SELECT)",
        "SELECT COUNT(*) FROM orders WHERE CUST IN (SELECT ID FROM customers WHERE CITY = 'C07')",
        f64::INFINITY,
    ),
    workload(
        "window",
        "SELECT ID, total FROM (SELECT ID, SUM(PRICE) OVER (PARTITION BY ORDERID) AS total FROM lines) AS t \
         WHERE total > 3900 ORDER BY ID",
        f64::INFINITY,
    ),
];

/// A column: its name, type, width and decimals.
type Column = (&'static str, u8, u8, u8);

/// Rows as a file of dBASE III and as text.
struct Rows {
    columns: &'static [Column],
    count: u32,
    records: Vec<u8>,
    csv: String,
}

impl Rows {
    fn new(columns: &'static [Column]) -> Self {
        let names: Vec<&str> = columns.iter().map(|column| column.0).collect();
        Self {
            columns,
            count: 0,
            records: Vec::new(),
            csv: names.join(",") + "\n",
        }
    }

    fn push(&mut self, values: &[String]) {
        self.count += 1;
        self.records.push(b' ');
        for (value, (_, kind, width, _)) in values.iter().zip(self.columns) {
            let width = usize::from(*width);
            let field = match kind {
                b'C' => format!("{value:<width$}"),
                _ => format!("{value:>width$}"),
            };
            self.records.extend(field.as_bytes());
        }
        let _ = writeln!(self.csv, "{}", values.join(","));
    }

    fn dbf(&self) -> Outcome<Vec<u8>> {
        let stride: u16 = 1 + self.columns.iter().map(|column| u16::from(column.2)).sum::<u16>();
        let mut dbf = vec![0x03, 124, 1, 31];
        dbf.extend(self.count.to_le_bytes());
        dbf.extend(u16::try_from(33 + 32 * self.columns.len())?.to_le_bytes());
        dbf.extend(stride.to_le_bytes());
        dbf.resize(32, 0);
        for (name, kind, width, decimals) in self.columns {
            let mut field = [0; 32];
            field[..name.len()].copy_from_slice(name.as_bytes());
            (field[11], field[16], field[17]) = (*kind, *width, *decimals);
            dbf.extend(field);
        }
        dbf.push(0x0d);
        dbf.extend(&self.records);
        dbf.push(0x1a);
        Ok(dbf)
    }
}

/// Customers, orders, lines.
fn tables() -> [(&'static str, Rows, &'static str); 3] {
    const CUSTOMERS: u32 = 5_000;
    const ORDERS: u32 = 50_000;
    const LINES: u32 = 200_000;
    let mut random = 20_261_122_u32;
    let mut next = move |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    let mut customers = Rows::new(&[("ID", b'N', 8, 0), ("NAME", b'C', 12, 0), ("CITY", b'C', 4, 0)]);
    for id in 1..=CUSTOMERS {
        customers.push(&[id.to_string(), format!("name {id}"), format!("C{:02}", next(40))]);
    }
    let mut orders = Rows::new(&[("ID", b'N', 8, 0), ("CUST", b'N', 8, 0)]);
    for id in 1..=ORDERS {
        orders.push(&[id.to_string(), (next(CUSTOMERS) + 1).to_string()]);
    }
    let mut lines = Rows::new(&[("ID", b'N', 8, 0), ("ORDERID", b'N', 8, 0), ("PRICE", b'N', 9, 2)]);
    for id in 1..=LINES {
        let cents = next(100_000);
        lines.push(&[
            id.to_string(),
            (next(ORDERS) + 1).to_string(),
            format!("{}.{:02}", cents / 100, cents % 100),
        ]);
    }
    [
        ("customers", customers, "ID::INTEGER AS ID, NAME, CITY"),
        ("orders", orders, "ID::INTEGER AS ID, CUST::INTEGER AS CUST"),
        (
            "lines",
            lines,
            "ID::INTEGER AS ID, ORDERID::INTEGER AS ORDERID, PRICE::DECIMAL(9,2) AS PRICE",
        ),
    ]
}

/// Runs all workloads, and checks that the engines answer alike.
///
/// # Errors
///
/// When a library or Python is not there, and what the engines say.
pub fn ask(repeats: usize, folder: &Path) -> Outcome<Vec<SqlLine>> {
    let folder = folder.join("joins");
    std::fs::create_dir(&folder)?;
    let mut rivals = Vec::new();
    for (name, rows, columns) in tables() {
        std::fs::write(folder.join(name).with_extension("dbf"), rows.dbf()?)?;
        rivals.push(RivalTable {
            name,
            csv: rows.csv,
            columns,
            indexed: None,
        });
    }
    let library = loaded()?;
    let session = Session::open(&library, &folder)?;
    // What was written just now is looked at again and again, because a clock's tick may hide a change.
    std::thread::sleep(Duration::from_millis(100));
    let (mut lines, mut answers) = (Vec::new(), Vec::new());
    for workload in WORKLOADS {
        let answer = session.read(workload.sql)?;
        let read = |()| session.read(workload.sql).expect("an answer");
        lines.push(SqlLine {
            name: workload.name.to_owned(),
            engine: "libace".to_owned(),
            warm: Spread::measure(repeats, &answer, || (), read),
            first: None,
            limit_ms: None,
        });
        answers.push(answer);
    }
    session.close()?;
    lines.extend(rivals::ask(&rivals, &WORKLOADS, repeats, &folder, &answers)?);
    Ok(lines)
}
