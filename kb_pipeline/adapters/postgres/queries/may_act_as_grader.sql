-- Whether this user may take the grader's role, and the role may do the grader's work on the mapped views.
SELECT
  pg_has_role(current_user, r.oid, 'MEMBER')
  AND has_database_privilege(r.oid, current_database(), 'TEMPORARY')
  AND has_table_privilege(r.oid, 'public.rag_call', 'INSERT')
  AND NOT EXISTS (
    SELECT FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'kb_source' AND c.relname IN ('ai_call', 'ai_call_body')
      AND NOT (has_schema_privilege(r.oid, n.oid, 'USAGE') AND has_table_privilege(r.oid, c.oid, 'SELECT')))
FROM pg_roles AS r
WHERE r.rolname = 'kb_grader' AND to_regclass('public.rag_call') IS NOT NULL
