// Package served asks Tidemill through the client and the database/sql driver of Arrow for Go.
package served

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	_ "github.com/apache/arrow-go/v18/arrow/flight/flightsql/driver"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func open(t *testing.T) *sql.DB {
	db, err := sql.Open("flightsql", "flightsql://"+os.Getenv("TIDEMILL_FLIGHT")+"?timeout=30s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestRowsAndParameters(t *testing.T) {
	db := open(t)
	var number int32
	// The driver binds no decimals.
	if err := db.QueryRow("SELECT order_no FROM orders WHERE total > CAST(? AS DOUBLE) ORDER BY 1", 15.0).Scan(&number); err != nil {
		t.Fatal(err)
	}
	if number != 2 {
		t.Fatalf("expected 2, found %d", number)
	}
	var name string
	if err := db.QueryRow("SELECT name FROM customers WHERE name = ?", "Olav").Scan(&name); err != nil || name != "Olav" {
		t.Fatal(name, err)
	}
	_, err := db.Query("SELECT totl FROM orders")
	if err == nil || !strings.Contains(err.Error(), "totl") {
		t.Fatal(err)
	}
}

func TestTransactions(t *testing.T) {
	db := open(t)
	count := func() (found int) {
		if err := db.QueryRow("SELECT COUNT(*) FROM orders").Scan(&found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	changed, err := tx.Exec("DELETE FROM orders")
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := changed.RowsAffected(); rows != 3 {
		t.Fatalf("expected 3, found %d", rows)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if found := count(); found != 3 {
		t.Fatalf("expected 3, found %d", found)
	}
}

// A change is cancelled by what describes its answer, while that is fetched.
func TestCancelledChange(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	insecureTransport := grpc.WithTransportCredentials(insecure.NewCredentials())
	client, err := flightsql.NewClient(os.Getenv("TIDEMILL_FLIGHT"), nil, nil, insecureTransport)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	change := "INSERT INTO customers (cust_no) SELECT a.n FROM numbers a, numbers b, numbers c, numbers d"
	info, err := client.Execute(ctx, change)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := client.DoGet(ctx, info.Endpoint[0].Ticket)
		ended <- err
	}()
	time.Sleep(500 * time.Millisecond)
	result, err := client.CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{Info: info})
	if err != nil || result.Status != flight.CancelStatusCancelled {
		t.Fatal(result, err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Fatal(err)
	}
	var count int
	if err := open(t).QueryRow("SELECT COUNT(*) FROM customers").Scan(&count); err != nil || count != 2 {
		t.Fatal(count, err)
	}
}

// Savepoints, which only the client below database/sql has.
func TestSavepoints(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	insecureTransport := grpc.WithTransportCredentials(insecure.NewCredentials())
	client, err := flightsql.NewClient(os.Getenv("TIDEMILL_FLIGHT"), nil, nil, insecureTransport)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	tx, err := client.BeginTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	change := func(statement string, expected int64) {
		t.Helper()
		rows, err := tx.ExecuteUpdate(ctx, statement)
		if err != nil || rows != expected {
			t.Fatal(statement, rows, err)
		}
	}
	change("INSERT INTO orders (order_no) VALUES (9)", 1)
	point, err := tx.BeginSavepoint(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	change("DELETE FROM orders", 4)
	if err := tx.RollbackSavepoint(ctx, point); err != nil {
		t.Fatal(err)
	}
	if err := tx.ReleaseSavepoint(ctx, point); err != nil {
		t.Fatal(err)
	}
	if err := tx.RollbackSavepoint(ctx, point); err == nil {
		t.Fatal("the transaction goes back to a savepoint that was released")
	}
	change("DELETE FROM orders WHERE order_no = 9", 1)
	ingest(t, ctx, client, tx, 2)
	change("DELETE FROM orders WHERE order_no > 100", 2)
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err == nil {
		t.Fatal("a transaction that was ended is committed")
	}
}

// Rows of a frame, within the transaction.
func ingest(t *testing.T, ctx context.Context, client *flightsql.Client, tx *flightsql.Txn, expected int64) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "order_no", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Field(0).(*array.Int32Builder).AppendValues([]int32{101, 102}, nil)
	rows, err := array.NewRecordReader(schema, []arrow.RecordBatch{builder.NewRecordBatch()})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	options := flightsql.ExecuteIngestOpts{
		TableDefinitionOptions: &flightsql.TableDefinitionOptions{
			IfNotExist: flightsql.TableDefinitionOptionsTableNotExistOptionFail,
			IfExists:   flightsql.TableDefinitionOptionsTableExistsOptionAppend,
		},
		Table:         "orders",
		TransactionId: tx.ID(),
	}
	taken, err := client.ExecuteIngest(ctx, rows, &options)
	if err != nil || taken != expected {
		t.Fatal(taken, err)
	}
}
