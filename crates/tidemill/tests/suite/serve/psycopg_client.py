"""psycopg 3 as a program uses it: types, parameters, cursors, COPY, transactions, errors."""

import datetime
import decimal
import sys

import psycopg

conninfo = sys.argv[1]


def refused(sqlstate, run):
    try:
        run()
    except psycopg.Error as error:
        assert error.sqlstate == sqlstate, (error.sqlstate, str(error))
        return error
    raise AssertionError(f"expected {sqlstate}")


def nested(connection):
    with connection.transaction():
        connection.execute("INSERT INTO orders (order_no) VALUES (6)")
        connection.execute("SELECT totl FROM orders")


def held(connection, name, commits):
    with connection.transaction(force_rollback=not commits):
        connection.execute(f"DECLARE {name} CURSOR WITH HOLD FOR SELECT n FROM numbers ORDER BY n")
        assert connection.execute(f"FETCH 1 FROM {name}").fetchall() == [(0,)]


def copy_wrong(cursor):
    with cursor.copy("COPY customers (cust_no, name) FROM STDIN") as copy:
        copy.write(b"13\tx\nthirteen\ty\n")


with psycopg.connect(conninfo, autocommit=True) as connection:
    day = datetime.date(2024, 2, 29)
    for binary in [False, True]:
        with connection.cursor(binary=binary) as cursor:
            cursor.execute("SELECT order_no, day, total FROM orders ORDER BY order_no")
            rows = cursor.fetchall()
            assert rows[0] == (1, day, decimal.Decimal("10.50")), rows
            assert [column.type_display for column in cursor.description] == ["int4", "date", "numeric(12,2)"], [
                column.type_display for column in cursor.description
            ]
            cursor.execute("SELECT COUNT(*), SUM(total) FROM orders WHERE day >= %s AND total > %s", (day, 15.5))
            assert cursor.fetchone()[0] == 2
            cursor.execute("SELECT order_no FROM orders WHERE total = %s", (decimal.Decimal("10.50"),))
            assert cursor.fetchall() == [(1,)]
            cursor.execute("SELECT name FROM customers WHERE name = %s", ("Olav",))
            assert cursor.fetchall() == [("Olav",)]
            cursor.execute("SELECT total FROM orders WHERE order_no = %s", (None,))
            assert cursor.fetchall() == []
    try:
        with connection.transaction():
            for statement in ["SAVEPOINT a", "RELEASE SAVEPOINT a", "ROLLBACK TO SAVEPOINT a"]:
                connection.execute(statement)
        raise AssertionError("a savepoint that was released is there")
    except psycopg.errors.InvalidSavepointSpecification as error:
        assert "no savepoint is called" in str(error), error
    # The same statement often enough to be prepared by its name.
    for number in range(1, 12):
        row = connection.execute("SELECT total FROM orders WHERE order_no = %s", (number,)).fetchone()
        assert (row is not None) == (number <= 3)

    for numbers, expected in [([1, 3], [(1,), (3,)]), ([], []), ([70000], [])]:
        found = connection.execute("SELECT order_no FROM orders WHERE order_no = ANY(%s) ORDER BY 1", (numbers,))
        assert found.fetchall() == expected, numbers
    found = connection.execute("SELECT cust_no FROM customers WHERE name = ANY(%s)", (["Olav", 'a "b"'],))
    assert found.fetchall() == [(2,)]
    found = connection.execute("SELECT order_no FROM orders WHERE order_no <> ALL(%s)", ([1, 3],))
    assert found.fetchall() == [(2,)]

    # What a session, or a transaction, only reads is not changed.
    connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
    refused("25006", lambda: connection.execute("DELETE FROM orders"))
    connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE")
    with connection.transaction():
        connection.execute("SET TRANSACTION READ ONLY")
        assert connection.execute("SHOW transaction_read_only").fetchone() == ("on",)
    assert connection.execute("SHOW transaction_read_only").fetchone() == ("off",)

    for text, sqlstate in [
        ("DECLARE c SCROLL CURSOR FOR SELECT 1", "0A000"),
        ("FETCH -1 FROM c", "55000"),
        ("MOVE BACKWARD 2 IN c", "55000"),
    ]:
        refused(sqlstate, lambda: connection.execute(text))

    # A cursor WITH HOLD stays, unless the transaction that declared it is rolled back.
    connection.execute("DECLARE alone CURSOR WITH HOLD FOR SELECT n FROM numbers ORDER BY n")
    held(connection, "kept", commits=True)
    held(connection, "gone", commits=False)
    assert connection.execute("FETCH 2 FROM alone").fetchall() == [(0,), (1,)]
    assert connection.execute("FETCH 2 FROM kept").fetchall() == [(1,), (2,)]
    refused("34000", lambda: connection.execute("FETCH 1 FROM gone"))
    connection.execute("CLOSE ALL")

    # What is not committed is not there.
    with psycopg.connect(conninfo) as other:
        other.execute("INSERT INTO orders (order_no, total) VALUES (%s, %s)", (4, decimal.Decimal("1.25")))
        assert other.execute("SELECT COUNT(*) FROM orders").fetchone() == (4,)
        assert connection.execute("SELECT COUNT(*) FROM orders").fetchone() == (3,)
        other.rollback()
        assert other.execute("SELECT COUNT(*) FROM orders").fetchone() == (3,)
        with other.transaction():
            other.execute("INSERT INTO orders (order_no) VALUES (5)")
            refused("42703", lambda: nested(other))
            other.execute("DELETE FROM orders WHERE order_no = 5")
        assert other.execute("SELECT COUNT(*) FROM orders").fetchone() == (3,)
        refused("42P01", lambda: other.execute("SELECT * FROM nothing"))
        refused("25P02", lambda: other.execute("SELECT 1"))
        other.rollback()

    # Rows page by page.
    with connection.transaction():
        with connection.cursor("pages") as cursor:
            cursor.itersize = 2
            cursor.execute("SELECT n FROM numbers ORDER BY n")
            assert [row[0] for row in cursor] == list(range(1000))

    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO customers (cust_no, name) VALUES (%s, %s)", [(7, "Zoë"), (8, None)])
        assert cursor.rowcount == 2
        cursor.execute("DELETE FROM customers WHERE cust_no >= 7")
        assert cursor.rowcount == 2
        with cursor.copy("COPY customers (cust_no, name) FROM STDIN") as copy:
            for row in [(10, "a\tb\\"), (11, None)]:
                copy.write_row(row)
        with cursor.copy("COPY customers (cust_no, name) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "text"])
            copy.write_row((12, "bytes"))
        with cursor.copy("COPY (SELECT cust_no, name FROM customers WHERE cust_no >= 10 ORDER BY 1) TO STDOUT") as copy:
            copy.set_types(["int4", "text"])
            assert list(copy.rows()) == [(10, "a\tb\\"), (11, None), (12, "bytes")]
        with cursor.copy("COPY (SELECT order_no FROM orders ORDER BY 1) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4"])
            assert list(copy.rows()) == [(1,), (2,), (3,)]
        with cursor.copy("COPY (SELECT order_no FROM orders WHERE order_no > 3) TO STDOUT (FORMAT binary)") as copy:
            assert b"".join(copy) == b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"\xff\xff"
        with cursor.copy("COPY customers (cust_no, name) FROM STDIN (FORMAT csv, HEADER MATCH)") as copy:
            copy.write(b"cust_no,name\n13,z\n")
        cursor.execute("DELETE FROM customers WHERE cust_no = 13")
        with cursor.copy("COPY (SELECT order_no FROM orders ORDER BY 1) TO STDOUT (FORMAT csv, HEADER)") as copy:
            assert b"".join(copy).lower() == b"order_no\n1\n2\n3\n"
        with cursor.copy("COPY (SELECT COUNT(*), MAX(total)::int FROM orders) TO STDOUT (FORMAT csv, HEADER)") as copy:
            assert b"".join(copy) == b"count,max\n3,30\n"
        for values, sql in [
            ((), "SELECT COUNT(*), 1 + 1, order_no AS n, MAX(total)::int FROM orders GROUP BY order_no"),
            ((1,), "SELECT COUNT(*), 1 + %s, MIN(relname) AS n, MAX(relname) FROM pg_class"),
        ]:
            cursor.execute(sql, values)
            assert [column.name for column in cursor.description] == ["count", "?column?", "n", "max"], sql
        error = refused("22P02", lambda: copy_wrong(cursor))
        assert "row 2" in str(error), error
        cursor.execute("SELECT COUNT(*) FROM customers WHERE cust_no >= 10")
        assert cursor.fetchone() == (3,)
        cursor.execute("DELETE FROM customers WHERE cust_no >= 10")

    error = refused("42703", lambda: connection.execute("SELECT totl FROM orders"))
    assert error.diag.statement_position == "8", error.diag.statement_position
    error = refused("42703", lambda: connection.execute("SELECT 'ä';\nSELECT totl FROM orders"))
    assert error.diag.statement_position == "20", error.diag.statement_position
    refused("42601", lambda: connection.execute("SELEC 1"))
    refused("42704", lambda: connection.execute("SELECT current_setting('no_such_thing')"))
    refused("42P07", lambda: connection.execute("CREATE INDEX order_no ON orders (order_no)"))
    refused("22001", lambda: connection.execute("UPDATE customers SET name = 'more than twenty letters' WHERE cust_no = 1"))
    refused("0A000", lambda: connection.execute("SET datestyle TO german"))
    refused("42501", lambda: connection.execute("COPY orders TO '/tmp/x'"))
    refused("42501", lambda: connection.execute("SELECT * FROM '/etc/passwd'"))
    connection.execute("SET statement_timeout = '50ms'")
    refused("57014", lambda: connection.execute("SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d"))
    refused("57014", lambda: connection.execute("SELECT pg_sleep(60)"))
    connection.execute("RESET statement_timeout")

    # Cancelled from another thread.
    import threading

    threading.Timer(0.3, connection.cancel).start()
    refused("57014", lambda: connection.execute("SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d"))
    assert connection.execute("SELECT 1").fetchone() == (1,)
print("done")
