-- Statements as programs and people send them to PostgreSQL. Each line is one. PostgreSQL gives the same rows, with the same names, but
-- where a line `--! formats: why` stands before it.
-- Groups, dates and times.
SELECT COUNT(*) FROM orders
SELECT COUNT(DISTINCT cust_no), SUM(total), MIN(total), MAX(day) FROM orders
SELECT "public"."orders"."cust_no" AS "cust_no", COUNT(*) AS "count" FROM "public"."orders" GROUP BY "public"."orders"."cust_no" ORDER BY "public"."orders"."cust_no" ASC
SELECT CAST(DATE_TRUNC('month', "public"."orders"."day") AS date) AS "day", SUM("public"."orders"."total") AS "sum" FROM "public"."orders" GROUP BY CAST(DATE_TRUNC('month', "public"."orders"."day") AS date) ORDER BY 1
SELECT date_trunc('month', day)::date AS m, SUM(total) FROM orders GROUP BY 1 ORDER BY 1
SELECT date_trunc('week', day)::date, COUNT(*) FROM orders GROUP BY 1 ORDER BY 1
SELECT date_trunc('quarter', day)::date, COUNT(*) FROM orders GROUP BY 1 ORDER BY 1
SELECT date_trunc('hour', at), COUNT(*) FROM events GROUP BY 1 ORDER BY 1
SELECT EXTRACT(year FROM day) AS y, EXTRACT(month FROM day) AS m, COUNT(*) FROM orders GROUP BY 1, 2 ORDER BY 1, 2
SELECT EXTRACT(dow FROM day), EXTRACT(isodow FROM day), EXTRACT(doy FROM day), EXTRACT(week FROM day), EXTRACT(quarter FROM day) FROM orders ORDER BY order_no
SELECT date_part('year', day), date_part('hour', at) FROM orders, events WHERE order_no = 1 AND id = 1
--! dbf parquet: a double has no zeros at its end
SELECT EXTRACT(epoch FROM at) FROM events ORDER BY id
SELECT to_char(day, 'YYYY-MM') AS ym, COUNT(*) FROM orders GROUP BY 1 ORDER BY 1
SELECT to_char(at, 'YYYY-MM-DD HH24:MI:SS') FROM events ORDER BY id
SELECT to_char(day, 'DD.MM.YYYY'), to_char(day, 'Mon'), to_char(day, 'Dy'), to_char(day, 'Q'), to_char(day, 'IW') FROM orders ORDER BY order_no
SELECT to_char(day, 'FMMonth DD, YYYY'), to_char(day, 'FMDay') FROM orders ORDER BY order_no
--! dbf parquet: to_char writes dates and times only
SELECT to_char(total, 'FM999,990.00') FROM orders ORDER BY order_no
--! dbf parquet: to_char writes dates and times only
SELECT to_char(total, '999990.0'), to_char(order_no, '000'), to_char(order_no, 'FM000') FROM orders ORDER BY order_no
SELECT day + 7, day - 7, day - DATE '2024-01-01' FROM orders ORDER BY order_no
--! dbf parquet: a date and an interval are a date
SELECT day + INTERVAL '1 month', day - INTERVAL '1 day' FROM orders ORDER BY order_no
SELECT at + INTERVAL '90 minutes', at - INTERVAL '1 year' FROM events ORDER BY id
--! dbf parquet: an interval has hours and no days; of an xBase table it is a number of days, as in ADS
SELECT at - TIMESTAMP '2024-01-01 00:00:00' FROM events ORDER BY id
--! dbf parquet: intervals are not multiplied
SELECT order_no * INTERVAL '1 day' FROM orders ORDER BY order_no
SELECT day FROM orders WHERE day BETWEEN '2024-01-01' AND '2024-02-29' ORDER BY day, order_no
SELECT order_no FROM orders WHERE day >= DATE '2024-03-01' AND day < DATE '2024-03-01' + INTERVAL '1 month' ORDER BY 1
SELECT order_no FROM orders WHERE day >= date_trunc('month', TIMESTAMP '2024-03-15 10:00:00') ORDER BY 1
--! dbf parquet: there is no make_timestamp
SELECT make_date(2024, 2, 29), make_timestamp(2024, 2, 29, 12, 30, 0), to_date('29.02.2024', 'DD.MM.YYYY'), to_timestamp(1709200000) AT TIME ZONE 'UTC'
--! dbf parquet: there is no age
SELECT age(TIMESTAMP '2024-03-01', TIMESTAMP '2023-01-15'), age(DATE '2024-02-29', DATE '2020-02-29')
--! dbf parquet: there is no age
SELECT day, age(DATE '2024-12-31', day) FROM orders ORDER BY order_no
SELECT CURRENT_DATE = now()::date, CURRENT_TIMESTAMP - now() = INTERVAL '0', localtimestamp::date = CURRENT_DATE
--! dbf parquet: an interval of days and hours in one text
SELECT DATE '2024-02-29', TIMESTAMP '2024-02-29 12:00:00', TIME '12:30:00', INTERVAL '1 day 02:00:00'
SELECT '2024-02-29'::date, '2024-02-29 12:00'::timestamp, '12:30'::time
--! dbf parquet: a date and a time are not added; there is no OVERLAPS
SELECT DATE '2024-02-29' + TIME '12:30', (DATE '2024-02-29', DATE '2024-03-02') OVERLAPS (DATE '2024-03-01', DATE '2024-03-05')
--! dbf parquet: there is no justify_hours
SELECT justify_hours(INTERVAL '30 hours'), justify_days(INTERVAL '40 days')
SELECT EXTRACT(day FROM INTERVAL '3 days 4 hours'), EXTRACT(hour FROM INTERVAL '3 days 4 hours')
SELECT date_bin('15 minutes', at, TIMESTAMP '2024-01-01') FROM events ORDER BY id
SELECT d::date FROM generate_series(DATE '2024-02-27', DATE '2024-03-02', INTERVAL '1 day') AS d ORDER BY 1
SELECT d::date, COUNT(o.order_no) FROM generate_series(DATE '2024-02-28', DATE '2024-03-02', INTERVAL '1 day') AS d LEFT JOIN orders o ON o.day = d::date GROUP BY 1 ORDER BY 1
SELECT n FROM generate_series(1, 10, 3) AS g(n)
SELECT generate_series(1, 3)
SELECT generate_series(1, 3) AS n, 'x' AS t
-- Numbers.
SELECT AVG(total)::numeric(10, 2), ROUND(AVG(total), 3) FROM orders
SELECT cust_no, ROUND(AVG(total), 2) AS mean FROM orders GROUP BY cust_no ORDER BY cust_no
--! dbf parquet: 7 / 2 is 3.5
SELECT 7 / 2, -7 / 2, 7 % 3, -7 % 3, 7.0 / 2 > 3.4, 2 ^ 3, abs(-3), sign(-2.5), ceil(1.2), floor(-1.2)
--! dbf parquet: ROUND keeps the scale of its number
SELECT ROUND(2.5), ROUND(-2.5), ROUND(3.14159, 2), TRUNC(3.99), TRUNC(3.14159, 3), mod(7, 3), power(2, 10), sqrt(16)
--! dbf parquet: numeric without a scale is a double
SELECT ROUND(amount::numeric, 1) FROM events ORDER BY id
SELECT total / 3 > 3, total * 2, total + 1, -total FROM orders ORDER BY order_no
SELECT SUM(total) FILTER (WHERE paid), COUNT(*) FILTER (WHERE NOT paid) FROM orders
SELECT SUM(CASE WHEN paid THEN total ELSE 0 END) AS paid, SUM(CASE WHEN paid THEN 0 ELSE total END) AS open FROM orders
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM events
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY order_no) FROM orders
--! dbf parquet: there is no mode
SELECT mode() WITHIN GROUP (ORDER BY cust_no) FROM orders
SELECT ROUND(stddev(amount)::numeric, 6), ROUND(variance(amount)::numeric, 6), ROUND(stddev_pop(amount)::numeric, 6) FROM events
--! dbf parquet: numeric without a scale is a double
SELECT ROUND(corr(amount, id)::numeric, 6), ROUND(covar_pop(amount, id)::numeric, 6), ROUND(regr_slope(amount, id)::numeric, 6) FROM events
SELECT bool_and(paid), bool_or(paid), every(paid) FROM orders
SELECT bit_and(order_no), bit_or(order_no) FROM orders
SELECT width_bucket(total, 0, 100, 5) FROM orders ORDER BY order_no
SELECT greatest(1, 2, NULL, 3), least(1, NULL, 2), nullif(1, 1), coalesce(NULL, NULL, 3)
SELECT div(7, 2), gcd(12, 18), lcm(4, 6), factorial(5), ln(1), exp(0), pi() > 3
--! dbf parquet: LOG is the natural logarithm, as in ADS
SELECT log(100), cbrt(27)
--! dbf parquet: a logical as text is True, as in ADS, where a statement names no table of another kind
SELECT 5::text, 5.50::text, 1.5::double precision::text, true::text, DATE '2024-02-29'::text, NULL::text IS NULL
--! dbf parquet: numeric without a scale is a double
SELECT '42'::int, '4.20'::numeric, '1e3'::double precision, 'true'::boolean, 't'::bool
--! dbf parquet: there is no to_number
SELECT to_number('1,234.50', '9,999.99')
--! dbf parquet: there is no type bit
SELECT 1::bit(3) IS NOT NULL
--! dbf parquet: char(3) is not filled up with blanks
SELECT 10::int8, 10::int4, 10::int2, 1.5::real, 1.25::float8, 1.25::decimal(5, 2), 'x'::varchar(10), 'x'::char(3)
SELECT 0.1 + 0.2 = 0.3, 1e10, 123456789012345678901234567890 + 1
-- Texts.
SELECT upper(name), lower(name), initcap('john SMITH'), length(name), char_length('äöü'), octet_length('äöü') FROM customers ORDER BY cust_no
--! dbf: a character field has blanks up to its width, as in ADS
SELECT name || ', ' || city FROM customers ORDER BY cust_no
--! dbf: a character field has blanks up to its width, as in ADS
SELECT concat(name, '-', city, '-', cust_no), concat_ws(', ', name, NULL, city) FROM customers ORDER BY cust_no
--! dbf: a character field has blanks up to its width, as in ADS
SELECT substring(name FROM 1 FOR 2), substring(name, 2), left(name, 1), right(name, 2), substr(name, 2, 1) FROM customers ORDER BY cust_no
SELECT trim('  x '), ltrim('xxy', 'x'), rtrim('yxx', 'x'), btrim('xyx', 'x'), trim(both 'x' FROM 'xax'), trim(leading ' ' FROM ' a')
--! dbf: a character field has blanks up to its width, as in ADS
SELECT position('n' IN name), strpos(name, 'n'), replace(name, 'n', 'm'), reverse(name), repeat('ab', 2) FROM customers ORDER BY cust_no
SELECT lpad('7', 3, '0'), rpad('a', 3, '-'), split_part('a,b,c', ',', 2), translate('abc', 'ab', 'xy'), overlay('abcdef' PLACING 'XX' FROM 2 FOR 3)
SELECT name FROM customers WHERE name LIKE 'A%' OR name ILIKE 'o%' ORDER BY 1
SELECT name FROM customers WHERE LOWER(name) LIKE LOWER('%N%') ORDER BY 1
SELECT name FROM customers WHERE name ~ '^[A-M]' ORDER BY 1
SELECT name FROM customers WHERE name ~* 'ann|olav' AND name !~ 'x' ORDER BY 1
SELECT name FROM customers WHERE name SIMILAR TO '(A|O)%' ORDER BY 1
SELECT regexp_replace('a1b2', '[0-9]', '#', 'g'), regexp_replace('a1b2', '[0-9]', '#'), (regexp_match('abc123', '[0-9]+'))[1], regexp_count('a1b2', '[0-9]')
SELECT ascii('A'), chr(65), md5('a'), encode('abc'::bytea, 'hex'), encode('abc'::bytea, 'base64'), to_hex(255)
SELECT string_agg(name, ', ' ORDER BY name) FROM customers
SELECT city, string_agg(name, ';' ORDER BY name DESC) FROM customers GROUP BY city ORDER BY city
SELECT array_agg(order_no ORDER BY order_no) FROM orders
SELECT cust_no, array_agg(order_no ORDER BY order_no DESC) FROM orders GROUP BY cust_no ORDER BY cust_no
SELECT starts_with('alphabet', 'alph'), 'abc' < 'abd', 'a' = 'A', '' = ''
SELECT E'tab\there', 'it''s', $$it's$$, $q$a$$b$q$
SELECT U&'\00E4', 'a' 
--! dbf parquet: format is for statements over the catalogue
SELECT format('%s has %s', 'Ann', 3), format('%I.%L', 'a b', 'it''s')
--! dbf parquet: there is no quote_nullable
SELECT quote_ident('a b'), quote_literal('x'), quote_nullable(NULL)
SELECT note, note IS NULL, COALESCE(note, '-') FROM orders ORDER BY order_no
SELECT CAST(order_no AS varchar) || '/' || CAST(total AS text) FROM orders ORDER BY order_no
--! dbf: a logical as text is True, as in ADS
SELECT paid, paid::text, paid::int, NOT paid, CASE paid WHEN true THEN 'yes' ELSE 'no' END FROM orders ORDER BY order_no
SELECT order_no FROM orders WHERE paid ORDER BY 1
SELECT order_no FROM orders WHERE paid IS NOT TRUE ORDER BY 1
SELECT order_no FROM orders WHERE paid = 't' ORDER BY 1
SELECT order_no FROM orders WHERE order_no = '3' OR total > '15.00' AND cust_no IN ('1', '2') ORDER BY 1
SELECT COUNT(*) FROM orders o JOIN customers c ON c.cust_no = o.cust_no WHERE o.total BETWEEN '9' AND '100' AND c.cust_no = '2' AND o.paid = 'f'
-- Joins, subqueries, windows.
SELECT o.order_no, c.name FROM orders o JOIN customers c USING (cust_no) ORDER BY 1
SELECT o.order_no, c.name FROM orders o LEFT JOIN customers c ON c.cust_no = o.cust_no AND c.city = 'Oslo' ORDER BY 1
SELECT c.name, o.order_no FROM orders o RIGHT JOIN customers c ON c.cust_no = o.cust_no ORDER BY 1, 2
SELECT o.order_no, c.name FROM orders o NATURAL JOIN customers c ORDER BY 1
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.cust_no = c.cust_no AND o.total > 15) ORDER BY 1
SELECT name FROM customers WHERE cust_no IN (SELECT cust_no FROM orders WHERE paid) ORDER BY 1
SELECT name FROM customers WHERE cust_no NOT IN (SELECT cust_no FROM orders) ORDER BY 1
SELECT name, (SELECT SUM(total) FROM orders o WHERE o.cust_no = c.cust_no) AS s FROM customers c ORDER BY 1
SELECT name, (SELECT day FROM orders o WHERE o.cust_no = c.cust_no ORDER BY day DESC, order_no LIMIT 1) FROM customers c ORDER BY 1
SELECT order_no FROM orders WHERE total > (SELECT AVG(total) FROM orders) ORDER BY 1
SELECT order_no FROM orders WHERE total = ANY (SELECT MAX(total) FROM orders) ORDER BY 1
SELECT order_no FROM orders WHERE order_no = ANY (ARRAY[1, 3]) ORDER BY 1
SELECT order_no FROM orders WHERE (cust_no, paid) IN ((1, true), (2, false)) ORDER BY 1
SELECT c.name, l.order_no FROM customers c CROSS JOIN LATERAL (SELECT order_no FROM orders o WHERE o.cust_no = c.cust_no ORDER BY total DESC LIMIT 1) l ORDER BY 1
SELECT order_no, cust_no IN (SELECT cust_no FROM customers WHERE city = 'Oslo') FROM orders ORDER BY 1
SELECT name FROM customers WHERE (cust_no, city) IN (SELECT cust_no, 'Oslo' FROM orders) ORDER BY 1
SELECT cust_no, COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM customers c WHERE c.cust_no = o.cust_no AND c.city = 'Oslo')) FROM orders o GROUP BY cust_no ORDER BY 1
SELECT cust_no FROM orders EXCEPT ALL SELECT cust_no FROM customers ORDER BY 1
WITH t AS (SELECT cust_no, SUM(total) AS s FROM orders GROUP BY cust_no) SELECT c.name, t.s FROM t JOIN customers c ON c.cust_no = t.cust_no ORDER BY t.s DESC
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT SUM(n) FROM r
SELECT order_no, row_number() OVER (PARTITION BY cust_no ORDER BY total DESC), rank() OVER (ORDER BY total) FROM orders ORDER BY 1
--! dbf parquet: the default of lead has the scale of its column
SELECT order_no, SUM(total) OVER (ORDER BY order_no) AS running, lag(total) OVER (ORDER BY order_no), lead(total, 1, 0) OVER (ORDER BY order_no) FROM orders ORDER BY 1
SELECT order_no, SUM(total) OVER (ORDER BY order_no ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders ORDER BY 1
SELECT order_no, first_value(order_no) OVER w, last_value(order_no) OVER w, ntile(2) OVER w FROM orders WINDOW w AS (ORDER BY total DESC, order_no) ORDER BY 1
SELECT DISTINCT ON (cust_no) cust_no, order_no FROM orders ORDER BY cust_no, total DESC
SELECT DISTINCT city FROM customers ORDER BY city
SELECT cust_no FROM orders UNION SELECT cust_no FROM customers ORDER BY 1
SELECT cust_no FROM orders INTERSECT SELECT cust_no FROM customers ORDER BY 1
SELECT cust_no FROM customers EXCEPT SELECT cust_no FROM orders ORDER BY 1
SELECT cust_no, paid, COUNT(*) FROM orders GROUP BY ROLLUP (cust_no, paid) ORDER BY 1 NULLS LAST, 2 NULLS LAST
SELECT cust_no, paid, SUM(total) FROM orders GROUP BY GROUPING SETS ((cust_no), (paid), ()) ORDER BY 1 NULLS LAST, 2 NULLS LAST
SELECT cust_no, GROUPING(cust_no), COUNT(*) FROM orders GROUP BY CUBE (cust_no) ORDER BY 1 NULLS LAST
SELECT cust_no FROM orders GROUP BY cust_no HAVING SUM(total) > 15 ORDER BY SUM(total) DESC
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(n, t) ORDER BY n
VALUES (1, 'x'), (2, 'y')
--! dbf: a * keeps the letters of the table
TABLE customers
SELECT order_no FROM orders ORDER BY total DESC LIMIT 2 OFFSET 1
SELECT order_no FROM orders ORDER BY total DESC FETCH FIRST 2 ROWS ONLY
SELECT order_no, note FROM orders ORDER BY note NULLS FIRST, order_no
SELECT order_no FROM orders ORDER BY note DESC NULLS LAST, order_no
--! dbf parquet: NULL comes first
SELECT order_no FROM orders ORDER BY note, order_no
--! dbf parquet: NULL comes first
SELECT order_no FROM orders ORDER BY note DESC, order_no
--! dbf: a * keeps the letters of the table
SELECT o.* FROM orders o WHERE o.order_no = 1
SELECT COUNT(*) FROM orders WHERE note IS DISTINCT FROM 'late'
SELECT unnest(ARRAY[3, 1, 2]) AS n ORDER BY 1
SELECT array_length(ARRAY[1, 2, 3], 1), ARRAY[1, 2] || 3, cardinality(ARRAY[1, 2]), array_to_string(ARRAY['a', 'b'], '-'), string_to_array('a,b', ',')
SELECT ARRAY[1, 2, 3] @> ARRAY[2], 2 = ANY (ARRAY[1, 2]), (ARRAY[4, 5, 6])[2]
--! dbf parquet: there are no functions of JSON
SELECT json_build_object('a', 1, 'b', 'x'), to_json('x'::text)
--! dbf parquet: there are no functions of JSON
SELECT json_agg(order_no ORDER BY order_no) FROM orders
--! dbf parquet: there are no functions of JSON
SELECT row_to_json(c) FROM customers c WHERE cust_no = 1
--! dbf parquet: there are no functions of JSON
SELECT '{"a": {"b": 1}}'::json -> 'a' ->> 'b', '{"a": [1, 2]}'::jsonb #>> '{a,1}'
SELECT CASE WHEN total < 15 THEN 'small' WHEN total < 25 THEN 'middle' ELSE 'large' END AS size, COUNT(*) FROM orders GROUP BY 1 ORDER BY 1
--! dbf parquet: version() is for statements over the catalogue, which have no gen_random_uuid
SELECT gen_random_uuid() IS NOT NULL, random() BETWEEN 0 AND 1, version() LIKE 'PostgreSQL%', current_schema(), current_database()
--! dbf parquet: whole numbers are of 64 bits, numbers with a point doubles
SELECT pg_typeof(1), pg_typeof('x'::text), pg_typeof(1.5), pg_typeof(now())
SELECT 1 AS "Mixed Case", 2 AS "select"
--! dbf parquet: there is no BETWEEN SYMMETRIC
SELECT COUNT(*) FROM public.orders AS "Orders" WHERE "Orders".order_no BETWEEN SYMMETRIC 3 AND 1
--! dbf parquet: there is no FROM ONLY
SELECT order_no FROM ONLY orders ORDER BY 1
