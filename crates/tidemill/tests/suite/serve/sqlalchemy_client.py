"""SQLAlchemy, and what it reads of the catalogue to know the tables."""

import sys

import sqlalchemy
from sqlalchemy import MetaData, Table, create_engine, func, inspect, select

engine = create_engine(f"postgresql+psycopg://ann@{sys.argv[1]}/tidemill")
with engine.connect() as connection:
    names = inspect(connection).get_table_names()
    assert sorted(names) == ["customers", "numbers", "orders"], names
    assert "more" in inspect(connection).get_schema_names()
    columns = inspect(connection).get_columns("orders")
    assert [column["name"].lower() for column in columns] == ["order_no", "cust_no", "day", "total"], columns
    orders = Table("orders", MetaData(), autoload_with=connection)
    total = next(column for column in orders.columns if column.name.lower() == "total")
    found = connection.execute(select(func.sum(total))).scalar_one()
    assert str(found) == "60.50", found
print("done")
