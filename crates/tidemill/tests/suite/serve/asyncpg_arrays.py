"""asyncpg with arrays, whose types it looks up in the catalogue first."""

import asyncio
import datetime
import decimal
import json
import sys

import asyncpg

DAY = datetime.date(2024, 2, 29)


async def main(host, port):
    connection = await asyncpg.connect(host=host, port=port, user="ann", database="tidemill")
    for text, values, expected in [
        ("SELECT order_no FROM orders WHERE order_no = ANY($1) ORDER BY 1", [[1, 3]], [1, 3]),
        ("SELECT order_no FROM orders WHERE order_no = ANY($1::int[]) ORDER BY 1", [[1, 3]], [1, 3]),
        ("SELECT order_no FROM orders WHERE order_no = ANY($1::bigint[]) ORDER BY 1", [[1, 3]], [1, 3]),
        ("SELECT order_no FROM orders WHERE order_no = ANY($1::int[])", [[]], []),
        ("SELECT cust_no FROM customers WHERE name = ANY($1::text[])", [["Olav", None]], [2]),
        ("SELECT COUNT(*) FROM orders WHERE NOT (order_no = ANY($1::int[]))", [[1, None]], [0]),
        ("SELECT COUNT(*) FROM orders WHERE NOT (order_no <> ALL($1::int[]))", [[1, None]], [1]),
        ("SELECT order_no <> ALL($1::int[]) FROM orders ORDER BY order_no", [[1, None]], [False, None, None]),
        ("SELECT order_no = ANY($1::int[]) FROM orders WHERE order_no = 1", [None], [None]),
        ("SELECT cust_no FROM customers WHERE name <> ALL($1::varchar[])", [["Olav"]], [1]),
        ("SELECT order_no FROM orders WHERE day = ANY($1::date[])", [[DAY]], [1]),
        ("SELECT order_no FROM orders WHERE total = ANY($1)", [[decimal.Decimal("10.5")]], [1]),
        ("SELECT order_no FROM orders WHERE order_no = ANY($1::int[]) AND total > $2", [[1, 3], decimal.Decimal(15)], [3]),
        ("SELECT * FROM unnest($1::int[]) AS t (n) ORDER BY 1", [[3, 1]], [1, 3]),
        ("SELECT t.n FROM unnest($1::text[]) AS t (n)", [["a"]], ["a"]),
        ("SELECT * FROM unnest('{3,1}'::int[]) AS t (n)", [], [3, 1]),
        ("SELECT 2 ^ 3", [], [8]),
        ("SELECT unnest($1::int[])", [[3, 1]], [3, 1]),
        ("SELECT unnest($1::date[])", [[DAY]], [DAY]),
        ("SELECT $1::int[]", [[3, 1]], [[3, 1]]),
        ("SELECT $1::text[]", [["a", None]], [["a", None]]),
        ("SELECT $1::int[]", [None], [None]),
        ("SELECT $1::int[]", [[]], [[]]),
        (
            "SELECT o.order_no FROM orders o JOIN unnest($1::int[]) AS t (n) ON o.order_no = t.n",
            [[3]],
            [3],
        ),
    ]:
        rows = await connection.fetch(text, *values)
        assert [row[0] for row in rows] == expected, (text, rows)
    await connection.execute(
        "INSERT INTO customers (cust_no, name) SELECT * FROM unnest($1::int[], $2::text[])", [50, 51], ["x", "y"]
    )
    assert await connection.fetchval("SELECT COUNT(*) FROM customers WHERE cust_no >= 50") == 2
    assert await connection.execute("DELETE FROM customers WHERE cust_no = ANY($1::int[])", [50, 51]) == "DELETE 2"

    # A codec of the program's own, for a type that is looked up by its name.
    await connection.set_type_codec("json", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    await connection.close()


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
print("done")
