SELECT n.nspname || '.' || c.relname
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN unnest(%(schemas)s::text[], %(tables)s::text[]) AS scanned(schema_name, table_name)
  ON n.nspname = scanned.schema_name AND c.relname = scanned.table_name
WHERE c.reltuples >= %(rows)s
ORDER BY 1
