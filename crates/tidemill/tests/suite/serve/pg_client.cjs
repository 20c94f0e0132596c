// node-postgres as a program uses it: values, parameters, prepared statements, transactions, errors.

const assert = require("node:assert");
const { Client, Pool } = require("pg");

const address = { host: "127.0.0.1", port: Number(process.argv[2]), database: "tidemill", user: "ann" };

async function main() {
  const client = new Client(address);
  await client.connect();
  const { rows, fields } = await client.query("SELECT order_no, total FROM orders ORDER BY 1");
  assert.deepStrictEqual(rows[0], { order_no: 1, total: "10.50" });
  assert.deepStrictEqual(fields.map((field) => field.name), ["order_no", "total"]);
  const spelled = await client.query('SELECT Total, "ORDER_NO", cust_no AS "Customer", * FROM orders');
  assert.deepStrictEqual(
    spelled.fields.map((field) => field.name),
    ["total", "ORDER_NO", "Customer", "ORDER_NO", "CUST_NO", "DAY", "TOTAL"],
  );
  const named = { name: "by total", text: "SELECT order_no FROM orders WHERE total > $1 ORDER BY 1" };
  for (const total of [5, 15, 25]) {
    const answer = await client.query({ ...named, values: [total] });
    assert.strictEqual(answer.rowCount, total === 5 ? 3 : total === 15 ? 2 : 1);
  }
  await assert.rejects(client.query("SELECT totl FROM orders"), { code: "42703", position: "8" });
  await client.query("BEGIN");
  assert.strictEqual((await client.query("DELETE FROM orders")).rowCount, 3);
  await client.query("ROLLBACK");
  assert.strictEqual((await client.query("SELECT COUNT(*) AS n FROM orders")).rows[0].n, "3");
  assert.strictEqual((await client.query("SELECT COUNT(*)::int AS n FROM numbers")).rows[0].n, 1000);
  await client.end();

  const pool = new Pool({ ...address, max: 4 });
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => pool.query("SELECT $1::int + n AS n FROM numbers WHERE n = $1", [n])));
  assert.deepStrictEqual(answers.map((answer) => Number(answer.rows[0].n)), [2, 4, 6, 8, 10, 12]);
  await pool.end();
  console.log("done");
}

main();
