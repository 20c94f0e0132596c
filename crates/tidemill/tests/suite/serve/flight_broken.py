"""Rows of a client that goes away before its last row: none of them are kept."""

import os
import signal
import subprocess
import sys
import time

import adbc_driver_flightsql.dbapi as flightsql
import pyarrow

uri = sys.argv[1]
schema = pyarrow.schema([("cust_no", pyarrow.int32())])


def rows(end):
    for number in range(20):
        yield pyarrow.record_batch([pyarrow.array(range(number * 1000, number * 1000 + 1000), pyarrow.int32())], schema)
    time.sleep(0.3)
    end()


def send(table, mode, end):
    with flightsql.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        reader = pyarrow.RecordBatchReader.from_batches(schema, rows(end))
        cursor.adbc_ingest(table, reader, mode=mode)


def counted(table):
    with flightsql.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return cursor.fetchone()[0]


if len(sys.argv) > 2:
    send(sys.argv[2], sys.argv[3], lambda: os.kill(os.getpid(), signal.SIGKILL))
    sys.exit("it was not killed")

for table, mode in [("customers", "append"), ("fresh", "create")]:
    killed = subprocess.run([sys.executable, __file__, uri, table, mode], timeout=30)
    assert killed.returncode == -signal.SIGKILL, killed
    # What came of them is taken back before others are let in.
    for turn in range(100):
        time.sleep(0.1)
        try:
            found = counted(table)
        except flightsql.Error as error:
            found = None if "NOT_FOUND" in str(error) else error
        if found == (2 if table == "customers" else None):
            break
    else:
        raise AssertionError(f"{table}: {found}")
# The table can be changed at once.
with flightsql.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
    cursor.execute("UPDATE customers SET city = city WHERE cust_no = 1")
print("done")
