-- The first of the roles, in the order given, that this user may take and that may add events; no row where there is
-- none, nor where the tables are missing.
SELECT r.rolname
FROM unnest(%(roles)s::text[]) WITH ORDINALITY AS wanted (name, place)
JOIN pg_roles AS r ON r.rolname = wanted.name
WHERE pg_has_role(current_user, r.oid, 'MEMBER')
  AND NOT EXISTS (
    SELECT FROM unnest(ARRAY['kb_retrieval_event', 'kb_search_event', 'kb_retrieval_event_conflict']) AS t (name)
    WHERE coalesce(
      NOT has_table_privilege(r.oid, to_regclass('public.' || t.name), 'SELECT')
      OR NOT has_table_privilege(r.oid, to_regclass('public.' || t.name), 'INSERT'), true))
ORDER BY wanted.place
LIMIT 1
