// pgx, the client of PostgreSQL for Go, over `tidemill serve`.
package pgx_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestPgxAsksAndChanges(t *testing.T) {
	ctx := context.Background()
	connection, err := pgx.Connect(ctx, os.Getenv("TIDEMILL_POSTGRES"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(ctx)

	var name string
	var day time.Time
	row := connection.QueryRow(ctx, "SELECT c.name, o.day FROM orders o JOIN customers c ON c.cust_no = o.cust_no WHERE o.order_no = $1", 1)
	if err := row.Scan(&name, &day); err != nil {
		t.Fatal(err)
	}
	if name != "Ann" || day.Format(time.DateOnly) != "2024-02-29" {
		t.Fatalf("%s %s", name, day)
	}

	rows, err := connection.Query(ctx, "SELECT n FROM numbers WHERE n < $1 ORDER BY n", 500)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(numbers) != 500 || numbers[499] != 499 {
		t.Fatalf("%d %v", len(numbers), err)
	}

	transaction, err := connection.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	done, err := transaction.Exec(ctx, "INSERT INTO customers (cust_no, name) VALUES ($1, $2)", 40, "Eve")
	if err != nil || done.RowsAffected() != 1 {
		t.Fatalf("%v %v", done, err)
	}
	if err := transaction.Rollback(ctx); err != nil {
		t.Fatal(err)
	}

	batch := &pgx.Batch{}
	for number := 1; number <= 3; number++ {
		batch.Queue("SELECT total FROM orders WHERE order_no = $1", number)
	}
	if err := connection.SendBatch(ctx, batch).Close(); err != nil {
		t.Fatal(err)
	}

	copied, err := connection.CopyFrom(ctx, pgx.Identifier{"customers"}, []string{"cust_no", "name"}, pgx.CopyFromRows([][]any{{50, "a"}, {51, nil}}))
	if err != nil || copied != 2 {
		t.Fatalf("%d %v", copied, err)
	}
	if _, err := connection.Exec(ctx, "DELETE FROM customers WHERE cust_no >= 50"); err != nil {
		t.Fatal(err)
	}

	var refused *pgconn.PgError
	_, err = connection.Exec(ctx, "SELECT totl FROM orders")
	if !asPgError(err, &refused) || refused.Code != "42703" || refused.Position != 8 {
		t.Fatalf("%v", err)
	}

	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err = connection.Exec(short, "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d")
	if err == nil || time.Since(begun) > 5*time.Second {
		t.Fatalf("%v after %s", err, time.Since(begun))
	}
}

func asPgError(err error, target **pgconn.PgError) bool {
	found, ok := err.(*pgconn.PgError)
	*target = found
	return ok
}
