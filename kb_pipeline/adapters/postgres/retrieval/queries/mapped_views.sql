-- The relations of schema kb_source by name.
SELECT relation.relname::text
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace
WHERE space.nspname = 'kb_source' AND relation.relkind IN ('r', 'v', 'm', 'f', 'p')
