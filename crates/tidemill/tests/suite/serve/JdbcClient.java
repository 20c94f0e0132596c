import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;

/** JDBC, by the driver of Flight SQL and by PostgreSQL's: the URL tells which. */
public class JdbcClient {
    static void check(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    static List<String> column(ResultSet rows, String name) throws SQLException {
        List<String> values = new ArrayList<>();
        while (rows.next()) {
            values.add(rows.getString(name));
        }
        return values;
    }

    public static void main(String[] args) throws Exception {
        try (Connection connection = DriverManager.getConnection(args[0])) {
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT order_no, day, total FROM orders ORDER BY 1")) {
                rows.next();
                check(1, rows.getInt(1));
                check(Date.valueOf("2024-02-29"), rows.getDate(2));
                check(new BigDecimal("10.50"), rows.getBigDecimal(3));
            }
            try (PreparedStatement statement =
                    connection.prepareStatement("SELECT order_no FROM orders WHERE total > ? ORDER BY 1")) {
                for (int turn = 0; turn < 8; turn++) {
                    statement.setBigDecimal(1, new BigDecimal("15.00"));
                    try (ResultSet rows = statement.executeQuery()) {
                        check(List.of("2", "3"), column(rows, "order_no"));
                    }
                }
            }
            try (PreparedStatement statement =
                    connection.prepareStatement("SELECT cust_no FROM customers WHERE name = ?")) {
                statement.setString(1, "Olav");
                try (ResultSet rows = statement.executeQuery()) {
                    check(List.of("2"), column(rows, "cust_no"));
                }
            }
            try (Statement statement = connection.createStatement()) {
                check(1, statement.executeUpdate("INSERT INTO orders (order_no, total) VALUES (20, 7)"));
                check(1, statement.executeUpdate("DELETE FROM orders WHERE order_no = 20"));
                try {
                    statement.executeQuery("SELECT totl FROM orders").next();
                    throw new AssertionError("a column that is not there");
                } catch (SQLException error) {
                    check(true, error.getMessage().contains("totl"));
                }
            }
            var metadata = connection.getMetaData();
            try (ResultSet tables = metadata.getTables(null, "public", "%", new String[] {"TABLE"})) {
                check(List.of("customers", "numbers", "orders"), column(tables, "TABLE_NAME"));
            }
            try (ResultSet columns = metadata.getColumns(null, "public", "orders", "%")) {
                check(List.of("ORDER_NO", "CUST_NO", "DAY", "TOTAL"), column(columns, "COLUMN_NAME"));
            }
            try (ResultSet keys = metadata.getPrimaryKeys(null, "public", "orders")) {
                check(List.of(), column(keys, "COLUMN_NAME"));
            }
            try (ResultSet schemas = metadata.getSchemas()) {
                check(true, column(schemas, "TABLE_SCHEM").containsAll(List.of("public", "more")));
            }
            if (args.length > 1) {
                // Both are sent with a time zone, which a date has not.
                try (PreparedStatement statement = connection.prepareStatement(
                        "SELECT order_no FROM orders WHERE day >= ? AND day <= ? ORDER BY 1")) {
                    statement.setTimestamp(1, Timestamp.valueOf("2024-03-01 00:00:00"));
                    statement.setDate(2, Date.valueOf("2024-03-01"));
                    try (ResultSet rows = statement.executeQuery()) {
                        check(List.of("2", "3"), column(rows, "order_no"));
                    }
                }
                connection.setAutoCommit(false);
                try (Statement statement = connection.createStatement()) {
                    statement.executeUpdate("DELETE FROM orders");
                    connection.rollback();
                    try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) AS n FROM orders")) {
                        check(List.of("3"), column(rows, "n"));
                    }
                    connection.rollback();
                }
            }
        }
        System.out.println("done");
    }
}
