"""Users over TLS: tokens, rights, and what they may not do."""

import sys

import adbc_driver_flightsql.dbapi as flightsql
import pyarrow
from adbc_driver_flightsql import DatabaseOptions

uri, certificate = sys.argv[1], open(sys.argv[2]).read()


def connect(user, password):
    options = {DatabaseOptions.TLS_ROOT_CERTS.value: certificate}
    if user:
        options |= {"username": user, "password": password}
    return flightsql.connect(uri, db_kwargs=options, autocommit=True)


def refused(says, run):
    try:
        run()
    except flightsql.Error as error:
        assert says in str(error), str(error)
        return
    raise AssertionError(f"expected {says}")


def ask(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


with connect("ann", "secret") as ann:
    assert ask(ann, "SELECT COUNT(*) FROM orders") == [(3,)]
    ask(ann, "UPDATE orders SET total = total WHERE order_no = 1")
with connect("bob", "hidden") as bob:
    assert ask(bob, "SELECT w FROM more.words") == [("ä",)]
    refused("orders", lambda: ask(bob, "SELECT * FROM public.orders"))
    refused("may only read", lambda: ask(bob, "CREATE TABLE more.evil (a Integer)"))
    with bob.cursor() as cursor:
        frame = pyarrow.table({"a": [1]})
        refused("may only read", lambda: cursor.adbc_ingest("evil", frame, db_schema_name="more"))
    names = [part["db_schema_name"] for part in bob.adbc_get_objects(depth="db_schemas").read_all()[1][0].as_py()]
    assert names == ["more"], names
with connect("eve", "hidden") as eve, eve.cursor() as cursor:
    frame = pyarrow.table({"a": [1]})
    refused("without a schema", lambda: cursor.adbc_ingest("evil", frame))
    assert cursor.adbc_ingest("mine", frame, db_schema_name="more") == 1
    refused("public", lambda: cursor.adbc_ingest("evil", frame, db_schema_name="public"))
    refused("evil", lambda: cursor.execute("CREATE TABLE evil (a Integer)"))
refused("password", lambda: ask(connect("ann", "wrong"), "SELECT 1"))
refused("password", lambda: ask(connect(None, None), "SELECT 1"))
print("done")
