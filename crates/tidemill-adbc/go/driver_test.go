// Package driver tests libtidemill_adbc.so through Go's driver manager for ADBC, and through database/sql.
package driver

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/drivermgr"
	"github.com/apache/arrow-adbc/go/adbc/sqldriver"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const join = "SELECT o.id, c.name FROM orders o JOIN customers c ON c.cust = o.cust ORDER BY o.id"

// The driver's library is told by the environment.
func options(t *testing.T, folder string) map[string]string {
	t.Helper()
	library := os.Getenv("TIDEMILL_DRIVER")
	if library == "" {
		t.Fatal("TIDEMILL_DRIVER names no library")
	}
	return map[string]string{"driver": library, "entrypoint": "AdbcTidemillInit", "uri": folder}
}

// A connection to a folder with two tables that were made by SQL.
func books(t *testing.T) (adbc.Database, adbc.Connection) {
	t.Helper()
	var driver drivermgr.Driver
	database, err := driver.NewDatabase(options(t, t.TempDir()))
	must(t, err)
	t.Cleanup(func() { must(t, database.Close()) })
	connection := connect(t, database)
	for _, statement := range []string{
		"CREATE TABLE orders ( id Integer, cust Integer, total Numeric(8,2) )",
		"CREATE TABLE customers ( cust Integer, name Char(12) )",
		"INSERT INTO customers VALUES ( 1, 'Ada' ), ( 2, 'Größe' )",
		"INSERT INTO orders VALUES ( 10, 1, 5.25 ), ( 11, 2, 7 ), ( 12, 1, -0.75 )",
	} {
		change(t, connection, statement)
	}
	return database, connection
}

func connect(t *testing.T, database adbc.Database) adbc.Connection {
	t.Helper()
	connection, err := database.Open(context.Background())
	must(t, err)
	t.Cleanup(func() { must(t, connection.Close()) })
	return connection
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func prepared(t *testing.T, connection adbc.Connection, text string) adbc.Statement {
	t.Helper()
	statement, err := connection.NewStatement()
	must(t, err)
	t.Cleanup(func() { must(t, statement.Close()) })
	must(t, statement.SetSqlQuery(text))
	return statement
}

func change(t *testing.T, connection adbc.Connection, text string) int64 {
	t.Helper()
	count, err := prepared(t, connection, text).ExecuteUpdate(context.Background())
	must(t, err)
	return count
}

// Column by column, the values of all rows as text.
func columns(t *testing.T, statement adbc.Statement) [][]string {
	t.Helper()
	reader, _, err := statement.ExecuteQuery(context.Background())
	must(t, err)
	defer reader.Release()
	all := make([][]string, reader.Schema().NumFields())
	for reader.Next() {
		batch := reader.RecordBatch()
		for column := range all {
			values := batch.Column(column)
			for row := range values.Len() {
				// The bytes are the driver's, and gone with the batch.
				all[column] = append(all[column], strings.Clone(values.ValueStr(row)))
			}
		}
	}
	must(t, reader.Err())
	return all
}

func same(t *testing.T, found []string, expected ...string) {
	t.Helper()
	if !slices.Equal(found, expected) {
		t.Fatalf("found %q, expected %q", found, expected)
	}
}

func TestJoinsComeAsArrow(t *testing.T) {
	_, connection := books(t)
	found := columns(t, prepared(t, connection, join))
	same(t, found[0], "10", "11", "12")
	same(t, found[1], "Ada", "Größe", "Ada")
}

func TestRowsOfParametersAreRuns(t *testing.T) {
	_, connection := books(t)
	statement := prepared(t, connection, "SELECT id FROM orders WHERE cust = ?")
	must(t, statement.Prepare(context.Background()))
	must(t, statement.Bind(context.Background(), numbers(t, "cust", 2, 1, 9)))
	same(t, columns(t, statement)[0], "11", "10", "12")
}

func numbers(t *testing.T, name string, values ...int64) arrow.RecordBatch {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	batch := builder.NewRecordBatch()
	t.Cleanup(batch.Release)
	return batch
}

func TestIngestMakesATable(t *testing.T) {
	_, connection := books(t)
	statement, err := connection.NewStatement()
	must(t, err)
	t.Cleanup(func() { must(t, statement.Close()) })
	must(t, statement.SetOption(adbc.OptionKeyIngestTargetTable, "counted"))
	must(t, statement.SetOption(adbc.OptionKeyIngestMode, adbc.OptionValueIngestModeCreate))
	must(t, statement.Bind(context.Background(), numbers(t, "n", 3, 4)))
	count, err := statement.ExecuteUpdate(context.Background())
	must(t, err)
	if count != 2 {
		t.Fatalf("%d rows were taken", count)
	}
	same(t, columns(t, prepared(t, connection, "SELECT SUM(n) FROM counted"))[0], "7")
}

func TestOthersSeeWhatIsCommitted(t *testing.T) {
	database, connection := books(t)
	other := connect(t, database)
	settings := connection.(adbc.PostInitOptions)
	must(t, settings.SetOption(adbc.OptionKeyAutoCommit, adbc.OptionValueDisabled))
	if count := change(t, connection, "DELETE FROM orders WHERE cust = 1"); count != 2 {
		t.Fatalf("%d records were deleted", count)
	}
	same(t, columns(t, prepared(t, connection, join))[0], "11")
	same(t, columns(t, prepared(t, other, join))[0], "10", "11", "12")
	must(t, connection.Rollback(context.Background()))
	same(t, columns(t, prepared(t, connection, join))[0], "10", "11", "12")
	change(t, connection, "DELETE FROM orders WHERE id = 12")
	must(t, connection.Commit(context.Background()))
	same(t, columns(t, prepared(t, other, join))[0], "10", "11")
}

func TestFaultsHaveAStatusAndAState(t *testing.T) {
	_, connection := books(t)
	for text, expected := range map[string]struct {
		code  adbc.Status
		state string
	}{
		"SELECT nothing FROM orders": {adbc.StatusInvalidArgument, "S0022"},
		"SELECT * FROM nothing":      {adbc.StatusNotFound, "HY000"},
	} {
		_, _, err := prepared(t, connection, text).ExecuteQuery(context.Background())
		var fault adbc.Error
		if !errors.As(err, &fault) {
			t.Fatalf("%s: %v", text, err)
		}
		state := make([]byte, 0, 5)
		for _, letter := range fault.SqlState {
			state = append(state, byte(letter))
		}
		if fault.Code != expected.code || string(state) != expected.state {
			t.Fatalf("%s: %v, state %s: %s", text, fault.Code, state, fault.Msg)
		}
	}
}

func TestTablesAreDescribed(t *testing.T) {
	_, connection := books(t)
	schema, err := connection.GetTableSchema(context.Background(), nil, nil, "customers")
	must(t, err)
	same(t, []string{schema.Field(0).Name, schema.Field(1).Name}, "cust", "name")
	reader, err := connection.GetObjects(context.Background(), adbc.ObjectDepthTables, nil, nil, nil, nil, nil)
	must(t, err)
	defer reader.Release()
	var tables []string
	for reader.Next() {
		schemas := reader.RecordBatch().Column(1).(*array.List).ListValues().(*array.Struct)
		entries := schemas.Field(1).(*array.List).ListValues().(*array.Struct)
		names := entries.Field(0).(*array.String)
		for row := range names.Len() {
			tables = append(tables, strings.Clone(names.Value(row)))
		}
	}
	slices.Sort(tables)
	same(t, tables, "customers", "orders")
}

func TestDatabaseSQL(t *testing.T) {
	folder := t.TempDir()
	var settings []string
	for name, value := range options(t, folder) {
		settings = append(settings, name+"="+value)
	}
	sql.Register("tidemill", sqldriver.Driver{Driver: &drivermgr.Driver{}})
	database, err := sql.Open("tidemill", strings.Join(settings, ";"))
	must(t, err)
	defer func() { must(t, database.Close()) }()
	for _, statement := range []string{
		"CREATE TABLE towns ( town Integer, name Char(12) )",
		"INSERT INTO towns VALUES ( 7, 'York' ), ( 8, 'Ulm' )",
	} {
		_, err = database.Exec(statement)
		must(t, err)
	}
	rows, err := database.Query("SELECT town, name FROM towns WHERE town > ? ORDER BY name", int64(6))
	must(t, err)
	defer func() { must(t, rows.Close()) }()
	var names []string
	for rows.Next() {
		var town int64
		var name string
		must(t, rows.Scan(&town, &name))
		// sqldriver lends the bytes of a text, too.
		names = append(names, strings.Clone(name))
	}
	must(t, rows.Err())
	same(t, names, "Ulm", "York")
}
