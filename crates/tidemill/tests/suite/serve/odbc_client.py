"""What programs do through ODBC: Excel, Access, Power BI and the like."""

import datetime
import decimal
import sys
import threading

import pyodbc

connection_string = sys.argv[1]


def connect(options="", **arguments):
    return pyodbc.connect(connection_string + options, **arguments)


# How a program looks at a database.
db = connect()
cursor = db.cursor()
assert db.getinfo(pyodbc.SQL_DBMS_NAME) == "PostgreSQL"
tables = {(row.table_schem, row.table_name, row.table_type) for row in cursor.tables()}
assert ("public", "orders", "TABLE") in tables, tables
assert ("more", "words", "TABLE") in tables, tables
assert {row.table_name for row in cursor.tables(schema="more", tableType="TABLE")} == {"words"}
columns = {row.column_name.lower(): (row.type_name, row.column_size, row.nullable) for row in cursor.columns(table="orders")}
assert list(columns) == ["order_no", "cust_no", "day", "total"], columns
assert [columns[name][0] for name in columns] == ["int4", "int4", "date", "numeric"], columns
assert len(cursor.columns(table="numbers", column="n").fetchall()) == 1
assert cursor.primaryKeys("orders").fetchall() == []
assert cursor.foreignKeys("orders").fetchall() == []
assert len(cursor.statistics("orders").fetchall()) >= 0
assert cursor.rowIdColumns("orders").fetchall() == []
assert cursor.procedures().fetchall() is not None
assert {"int4", "numeric", "date", "bool"} <= {row.type_name for row in cursor.getTypeInfo()}

# Rows, with their types.
row = cursor.execute("SELECT order_no, day, total, total > 15 AS large, NULL AS nothing FROM orders WHERE order_no = 1").fetchone()
assert row.order_no == 1 and row.day == datetime.date(2024, 2, 29) and row.total == decimal.Decimal("10.50"), row
assert row.large in (False, "0") and row.nothing is None, row
assert [kind[0] for kind in cursor.description] == ["order_no", "day", "total", "large", "nothing"], cursor.description
assert cursor.execute("SELECT name FROM customers ORDER BY name").fetchall()[0].name.strip() == "Ann"
assert cursor.execute("SELECT w FROM more.words").fetchval() == "ä"
at = cursor.execute("SELECT CAST('2024-02-29 12:30:00.25' AS TIMESTAMP) AS at").fetchval()
assert at == datetime.datetime(2024, 2, 29, 12, 30, 0, 250000), at

# Parameters: put into the text by the driver, or sent beside a statement that the server prepares.
for options in ("UseServerSidePrepare=0;", "UseServerSidePrepare=1;", "UseServerSidePrepare=1;UseDeclareFetch=1;Fetch=100;"):
    with connect(options) as other:
        asked = other.cursor()
        query = "SELECT order_no FROM orders WHERE total > ? AND day >= ? AND order_no < ? ORDER BY order_no"
        rows = asked.execute(query, decimal.Decimal("15.00"), datetime.date(2024, 3, 1), 100).fetchall()
        assert [row.order_no for row in rows] == [2, 3], (options, rows)
        rows = asked.execute("SELECT name FROM customers WHERE city = ?", "Oslo").fetchall()
        assert [row.name.strip() for row in rows] == ["Olav"], (options, rows)
        assert len(asked.execute("SELECT n FROM numbers").fetchall()) == 1000, options
        assert asked.execute("SELECT COUNT(*) FROM numbers a, numbers b").fetchval() == 1_000_000, options

# Changes, taken back and kept.
db.autocommit = False
assert cursor.execute("INSERT INTO orders (order_no, total) VALUES (?, ?)", 50, decimal.Decimal("1.25")).rowcount == 1
db.rollback()
assert cursor.execute("SELECT COUNT(*) FROM orders").fetchval() == 3
cursor.executemany("INSERT INTO orders (order_no, cust_no) VALUES (?, ?)", [(50, 1), (51, 2)])
assert cursor.execute("UPDATE orders SET total = 2 WHERE order_no >= 50").rowcount == 2
db.commit()
assert cursor.execute("DELETE FROM orders WHERE order_no >= 50").rowcount == 2
db.commit()
db.autocommit = True

# Errors have a state and the words, and the connection goes on.
for statement, state in (
    ("SELECT totl FROM orders", "42703"),
    ("SELECT * FROM ordes", "42S02"),
    ("SELEC", "42601"),
):
    try:
        cursor.execute(statement).fetchall()
        raise AssertionError(statement)
    except pyodbc.Error as error:
        assert error.args[0] in (state, "42P01", "42S22"), (statement, error)
assert cursor.execute("SELECT 1").fetchval() == 1

# A statement is cancelled.
timer = threading.Timer(0.5, cursor.cancel)
timer.start()
try:
    cursor.execute("SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d").fetchall()
    raise AssertionError("it was not cancelled")
except pyodbc.Error as error:
    assert error.args[0] in ("57014", "HY008"), error
timer.join()
assert cursor.execute("SELECT 1").fetchval() == 1
print("done")
