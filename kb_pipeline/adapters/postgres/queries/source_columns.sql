-- The columns of every relation in kb_source, a domain counting as its base type.
WITH RECURSIVE resolved AS (
  SELECT relation.relname AS view_name, attribute.attname AS column_name, attribute.atttypid AS type_id
  FROM pg_catalog.pg_class AS relation
  JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace
  JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = relation.oid
  WHERE space.nspname = 'kb_source'
    AND relation.relkind IN ('r', 'v', 'm', 'f', 'p')
    AND attribute.attnum > 0
    AND NOT attribute.attisdropped
  UNION ALL
  SELECT resolved.view_name, resolved.column_name, domain.typbasetype
  FROM resolved
  JOIN pg_catalog.pg_type AS domain ON domain.oid = resolved.type_id AND domain.typtype = 'd'
)
SELECT resolved.view_name, resolved.column_name, format_type(resolved.type_id, NULL)
FROM resolved
JOIN pg_catalog.pg_type AS base ON base.oid = resolved.type_id AND base.typtype <> 'd'
