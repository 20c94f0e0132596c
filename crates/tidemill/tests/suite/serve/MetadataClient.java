import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What PostgreSQL's driver of JDBC tells of a database. */
public class MetadataClient {
    interface Question {
        ResultSet ask() throws SQLException;
    }

    /** The values of a column of all rows. */
    static List<String> values(String column, Question question) throws SQLException {
        List<String> values = new ArrayList<>();
        try (ResultSet rows = question.ask()) {
            while (rows.next()) {
                values.add(rows.getString(column));
            }
        } catch (SQLException error) {
            throw new SQLException(column + ": " + error.getMessage(), error);
        }
        return values;
    }

    static void check(boolean holds, Object found) {
        if (!holds) {
            throw new AssertionError("found " + found);
        }
    }

    static void none(String column, Question question) throws SQLException {
        List<String> found = values(column, question);
        check(found.isEmpty(), found);
    }

    public static void main(String[] args) throws Exception {
        try (Connection connection = DriverManager.getConnection(args[0])) {
            DatabaseMetaData told = connection.getMetaData();
            List<String> types = values("TYPE_NAME", () -> told.getTypeInfo());
            check(types.containsAll(List.of("int4", "text", "numeric", "date")), types);
            none("TYPE_NAME", () -> told.getUDTs(null, "public", "%", null));
            none("FKCOLUMN_NAME", () -> told.getImportedKeys(null, "public", "orders"));
            none("FKCOLUMN_NAME", () -> told.getExportedKeys(null, "public", "orders"));
            none("FKCOLUMN_NAME", () -> told.getCrossReference(null, "public", "orders", null, "public", "customers"));
            none("COLUMN_NAME", () -> told.getPrimaryKeys(null, "public", "orders"));
            List<String> keys = values("COLUMN_NAME", () -> told.getPrimaryKeys(null, "more", "people"));
            check(keys.equals(List.of("ID")), keys);
            List<String> indexed = values("COLUMN_NAME", () -> told.getIndexInfo(null, "public", "orders", false, true));
            check(indexed.equals(List.of("ORDER_NO")), indexed);
            List<String> digits = values("DECIMAL_DIGITS", () -> told.getColumns(null, "public", "orders", "TOTAL"));
            check(digits.equals(List.of("2")), digits);
            none("COLUMN_NAME", () -> told.getBestRowIdentifier(null, "public", "orders", 1, true));
            none("PROCEDURE_NAME", () -> told.getProcedures(null, "public", "%"));
            none("FUNCTION_NAME", () -> told.getFunctions(null, "public", "%"));
            List<String> schemas = values("TABLE_SCHEM", () -> told.getSchemas());
            check(schemas.containsAll(List.of("public", "more", "information_schema")), schemas);
            List<String> catalogs = values("TABLE_CAT", () -> told.getCatalogs());
            check(catalogs.contains("tidemill"), catalogs);
            List<String> columns = values("TYPE_NAME", () -> told.getColumns(null, "public", "orders", "%"));
            check(columns.equals(List.of("int4", "int4", "date", "numeric")), columns);
            values("PRIVILEGE", () -> told.getTablePrivileges(null, "public", "%"));
            values("PRIVILEGE", () -> told.getColumnPrivileges(null, "public", "orders", "%"));
            List<String> tables = values("TABLE_NAME", () -> told.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}));
            check(tables.equals(List.of("customers", "numbers", "orders")), tables);
            try (PreparedStatement statement =
                    connection.prepareStatement("SELECT order_no FROM orders WHERE order_no = ANY(?) ORDER BY 1")) {
                statement.setArray(1, connection.createArrayOf("int4", new Integer[] {1, 3}));
                List<String> orders = values("order_no", () -> statement.executeQuery());
                check(orders.equals(List.of("1", "3")), orders);
            }
        }
        System.out.println("done");
    }
}
