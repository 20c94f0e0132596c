SELECT {static} TOP 5 START AT 2 UCASE( 'a' ) AS n, COUNT(*) FROM system.iota a WHERE 'x' LIKE 'x%' {escape '!'} GROUP BY 1 HAVING n > 1 ORDER BY 2 DESC
