"""What psycopg looks up of types, and SQLAlchemy's inspector of tables."""

import sys

import psycopg
from psycopg.types import TypeInfo
from psycopg.types.composite import CompositeInfo
from psycopg.types.enum import EnumInfo
from psycopg.types.range import RangeInfo
from sqlalchemy import MetaData, create_engine, inspect

with psycopg.connect(sys.argv[1], autocommit=True) as connection:
    found = TypeInfo.fetch(connection, "int4")
    assert (found.oid, found.array_oid, found.regtype) == (23, 1007, "integer"), found
    assert TypeInfo.fetch(connection, "text[]").oid == 1009
    for kind in [TypeInfo, CompositeInfo, EnumInfo, RangeInfo]:
        assert kind.fetch(connection, "hstore") is None, kind
    assert RangeInfo.fetch(connection, "int4range").subtype_oid == 23

engine = create_engine(f"postgresql+psycopg://ann@127.0.0.1:{sys.argv[2]}/tidemill")
with engine.connect() as connection:
    inspector = inspect(connection)
    assert sorted(inspector.get_table_names()) == ["customers", "numbers", "orders"]
    assert inspector.get_table_names(schema="more") == ["people", "words"]
    assert inspector.get_view_names() == [] and inspector.get_sequence_names() == []
    assert inspector.get_materialized_view_names() == [] and inspector.get_enums() == []
    assert inspector.get_pk_constraint("orders")["constrained_columns"] == []
    assert inspector.get_pk_constraint("people", schema="more")["constrained_columns"] == ["ID"]
    assert inspector.get_foreign_keys("orders") == []
    [index] = inspector.get_indexes("orders")
    assert (index["name"], index["unique"]) == ("orders_order_no_idx", False), index
    assert index["column_names"] == ["ORDER_NO"], index
    assert inspector.get_unique_constraints("orders") == [] and inspector.get_check_constraints("orders") == []
    assert inspector.get_table_comment("orders") == {"text": None}
    kinds = {column["name"].lower(): str(column["type"]) for column in inspector.get_columns("orders")}
    assert kinds == {"order_no": "INTEGER", "cust_no": "INTEGER", "day": "DATE", "total": "NUMERIC(12, 2)"}, kinds
    assert inspector.has_table("orders") and not inspector.has_table("nope")
    everything = MetaData()
    everything.reflect(connection, views=True)
    assert sorted(everything.tables) == ["customers", "numbers", "orders"]
print("done")
