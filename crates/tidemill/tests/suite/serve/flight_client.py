"""adbc_driver_flightsql (the driver written in Go) as a program uses it: rows, parameters, frames, transactions, metadata, errors."""

import datetime
import decimal
import sys
import threading
import time

import adbc_driver_flightsql.dbapi as flightsql
import adbc_driver_manager
import pyarrow

uri = sys.argv[1]


def refused(kind, says, run):
    try:
        run()
    except kind as error:
        assert says in str(error), str(error)
        return
    raise AssertionError(f"expected {kind.__name__}: {says}")


def count(connection, table):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return cursor.fetchone()[0]


with flightsql.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
    day = datetime.date(2024, 2, 29)
    cursor.execute("SELECT order_no, day, total FROM orders ORDER BY order_no")
    table = cursor.fetch_arrow_table()
    assert table.schema.types == [pyarrow.int32(), pyarrow.date32(), pyarrow.decimal128(12, 2)], table.schema
    assert table.slice(0, 1).to_pylist() == [{"ORDER_NO": 1, "DAY": day, "TOTAL": decimal.Decimal("10.50")}]
    cursor.execute("SELECT w FROM more.words")
    assert cursor.fetchall() == [("ä",)]
    cursor.execute("SELECT COUNT(*), SUM(total) FROM orders WHERE day >= ? AND total > ?", (day, 15.5))
    assert cursor.fetchone()[0] == 2
    cursor.execute("SELECT name FROM customers WHERE name = ?", ("Olav",))
    assert cursor.fetchall() == [("Olav",)]
    cursor.execute("SELECT total FROM orders WHERE order_no = ?", (None,))
    assert cursor.fetchall() == []
    schema = cursor.adbc_execute_schema("SELECT order_no, total FROM orders")
    assert schema.names == ["ORDER_NO", "TOTAL"], schema

    # A statement is run when its rows are fetched, and once.
    cursor.execute("INSERT INTO orders (order_no, total) VALUES (10, 1)")
    assert count(connection, "orders") == 4
    cursor.executemany(
        "INSERT INTO orders (order_no, total) VALUES (?, ?)", [(11, 1.5), (12, None), (13, 2.5)]
    )
    assert count(connection, "orders") == 7
    cursor.execute("DELETE FROM orders WHERE order_no >= 10")
    assert count(connection, "orders") == 3

    # Frames.
    frame = pyarrow.table({"id": [1, 2, 3], "what": ["x", None, "ü"]})
    assert cursor.adbc_ingest("made", frame, mode="create") == 3
    refused(flightsql.Error, "made", lambda: cursor.adbc_ingest("made", frame, mode="create"))
    assert cursor.adbc_ingest("made", frame, mode="append") == 3
    assert cursor.adbc_ingest("made", frame, mode="replace") == 3
    assert cursor.adbc_ingest("made", frame, mode="create_append") == 3
    cursor.execute("SELECT id, what FROM made ORDER BY id")
    assert [row for row in cursor.fetchall()][-2:] == [(3, "ü"), (3, "ü")]
    cursor.execute("DROP TABLE made")
    assert cursor.adbc_ingest("taken", frame, mode="create", db_schema_name="more") == 3
    cursor.execute("DROP TABLE more.taken")
    for name in ["../evil", "/tmp/evil", "s3://bucket/evil.parquet", "evil/evil"]:
        refused(flightsql.Error, "", lambda: cursor.adbc_ingest(name, frame, mode="create"))
    refused(flightsql.Error, "nothere", lambda: cursor.adbc_ingest("nothere", frame, mode="append"))

    # Errors say what is wrong and what to do.
    refused(flightsql.Error, "totl", lambda: cursor.execute("SELECT totl FROM orders"))
    refused(flightsql.Error, "ordes", lambda: cursor.execute("SELECT * FROM ordes"))
    refused(flightsql.Error, "", lambda: cursor.execute("SELEC"))
    refused(flightsql.Error, "not allowed here", lambda: cursor.execute("SELECT * FROM '../secret.csv'"))

    # Metadata.
    objects = connection.adbc_get_objects(depth="all", table_name_filter="orders").read_all().to_pylist()
    [catalog] = [part for part in objects if part["catalog_name"] == "tidemill"]
    schemas = {part["db_schema_name"]: part["db_schema_tables"] for part in catalog["catalog_db_schemas"]}
    [orders] = schemas["public"]
    assert [column["column_name"] for column in orders["table_columns"]] == ["ORDER_NO", "CUST_NO", "DAY", "TOTAL"]
    assert schemas["more"] == [], schemas
    assert connection.adbc_get_table_schema("customers").names == ["CUST_NO", "NAME", "CITY"]
    assert connection.adbc_get_table_types() == ["TABLE"]
    assert connection.adbc_get_info()["vendor_name"] == "Tidemill", connection.adbc_get_info()

    # A long answer that nobody reads to its end.
    with connection.cursor() as other:
        other.execute("SELECT a.n FROM numbers a, numbers b, numbers c")
        assert other.fetch_record_batch().read_next_batch().num_rows > 0

    # A statement that is cancelled.
    def cancel():
        time.sleep(0.5)
        other.adbc_cancel()

    with connection.cursor() as other:
        begun = time.monotonic()
        other.execute("SELECT a.n FROM numbers a, numbers b, numbers c")
        threading.Thread(target=cancel).start()
        refused(flightsql.Error, "", other.fetch_arrow_table)
        assert time.monotonic() - begun < 20

# What is not committed is not there.
with flightsql.connect(uri) as writer, flightsql.connect(uri, autocommit=True) as reader:
    with writer.cursor() as cursor:
        cursor.execute("INSERT INTO orders (order_no, total) VALUES (?, ?)", (4, decimal.Decimal("1.25")))
        cursor.execute("INSERT INTO orders (order_no, total) VALUES (5, 1)")
    assert (count(writer, "orders"), count(reader, "orders")) == (5, 3)
    writer.rollback()
    assert (count(writer, "orders"), count(reader, "orders")) == (3, 3)
    with writer.cursor() as cursor:
        cursor.execute("INSERT INTO orders (order_no) VALUES (6)")
    writer.commit()
    assert count(reader, "orders") == 4
    with writer.cursor() as cursor:
        cursor.execute("DELETE FROM orders WHERE order_no = 6")
    writer.commit()
    with writer.cursor() as cursor:
        cursor.execute("DELETE FROM orders")

# A client that goes away takes its changes back.
with flightsql.connect(uri, autocommit=True) as reader:
    for _ in range(50):
        if count(reader, "orders") == 3:
            break
        time.sleep(0.1)
    assert count(reader, "orders") == 3

print("done")
