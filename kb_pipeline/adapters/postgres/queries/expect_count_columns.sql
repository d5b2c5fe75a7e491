-- Columns of a table that are not as they should be; the table itself must exist.
WITH found AS (
  SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
    row_number() OVER (ORDER BY a.attnum) AS place
  FROM pg_attribute AS a
  WHERE a.attrelid = %(table)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
), wanted AS (
  SELECT * FROM unnest(%(names)s::text[], %(types)s::text[]) WITH ORDINALITY AS w(name, type, place)
)
SELECT
  count(*) FILTER (WHERE found.name IS NULL) AS missing_columns,
  count(*) FILTER (WHERE wanted.name IS NULL) AS unknown_columns,
  count(*) FILTER (WHERE found.type <> wanted.type) AS columns_of_another_type,
  count(*) FILTER (WHERE found.place <> wanted.place) AS columns_in_another_place
FROM wanted
FULL JOIN found ON found.name = wanted.name
