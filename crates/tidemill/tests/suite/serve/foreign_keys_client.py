"""What SQLAlchemy's inspector finds of foreign keys."""

import sys

from sqlalchemy import MetaData, create_engine, inspect

engine = create_engine(f"postgresql+psycopg://ann@127.0.0.1:{sys.argv[1]}/tidemill")
with engine.connect() as connection:
    inspector = inspect(connection)
    found = {}
    for table in ["customers", "orders", "items"]:
        for key in inspector.get_foreign_keys(table):
            found[key["name"]] = (key["constrained_columns"], key["referred_table"], key["referred_columns"], key["options"])
    assert found == {
        "customers_boss_fkey": (["boss"], "customers", ["cust_no"], {}),
        "orders_cust_no_fkey": (["cust_no"], "customers", ["cust_no"], {"onupdate": "CASCADE"}),
        "items_order_no_fkey": (["order_no"], "orders", ["order_no"], {"ondelete": "CASCADE"}),
    }, found
    tables = MetaData()
    tables.reflect(connection)
    assert [table.name for table in tables.sorted_tables] == ["customers", "orders", "items"]
print("done")
