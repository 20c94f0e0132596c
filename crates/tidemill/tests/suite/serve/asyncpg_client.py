"""asyncpg, which speaks in binary alone, and asks for the types of all parameters."""

import asyncio
import datetime
import decimal
import sys

import asyncpg


async def main(host, port):
    connection = await asyncpg.connect(host=host, port=port, user="ann", database="tidemill")
    rows = await connection.fetch("SELECT order_no, day, total FROM orders WHERE total >= $1 ORDER BY order_no", decimal.Decimal(20))
    assert [tuple(row) for row in rows] == [
        (2, datetime.date(2024, 3, 1), decimal.Decimal("20.00")),
        (3, datetime.date(2024, 3, 1), decimal.Decimal("30.00")),
    ], rows
    assert await connection.fetchval("SELECT name FROM customers WHERE cust_no = $1", 2) == "Olav"
    assert await connection.fetchval("SELECT COUNT(*) FROM orders WHERE day = $1", datetime.date(2024, 3, 1)) == 2
    assert len(await connection.fetch("SELECT n FROM numbers LIMIT $1", 7)) == 7
    async with connection.transaction():
        await connection.execute("INSERT INTO customers (cust_no, name) VALUES ($1, $2)", 9, "Ida")
        assert await connection.fetchval("SELECT COUNT(*) FROM customers") == 3
        await connection.execute("DELETE FROM customers WHERE cust_no = $1", 9)
    seen = 0
    async with connection.transaction():
        async for _ in connection.cursor("SELECT n FROM numbers", prefetch=100):
            seen += 1
    assert seen == 1000, seen
    copied = await connection.copy_records_to_table("customers", records=[(20, "x")], columns=["cust_no", "name"])
    assert copied == "COPY 1", copied
    await connection.execute("DELETE FROM customers WHERE cust_no = 20")
    await connection.close()

    # Each release of a connection gives back what it has, and sets what it changed to what it was.
    settings = {"application_name": "shop"}
    async with asyncpg.create_pool(
        host=host, port=port, user="ann", database="tidemill", min_size=1, max_size=1, server_settings=settings
    ) as pool:
        for _ in range(2):
            async with pool.acquire() as pooled:
                assert await pooled.fetchval("SHOW statement_timeout") == "0"
                assert await pooled.fetchval("SHOW application_name") == "shop"
                await pooled.execute("SET statement_timeout = '60s'; SET application_name = 'other'")
        begun = asyncio.get_running_loop().time()
        await pool.fetchval("SELECT pg_sleep(0.2)")
        assert 0.2 <= asyncio.get_running_loop().time() - begun < 10


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
print("done")
