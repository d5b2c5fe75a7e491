-- Whether the user may take a role, and the role was given its rights in this database: roles are those of the server.
SELECT
  pg_has_role(current_user, r.oid, 'MEMBER')
  AND (SELECT bool_and(has_table_privilege(r.oid, t.oid, 'SELECT'))
       FROM unnest(ARRAY['rag_quality_window', 'rag_quality_day', 'rag_call_window', 'rag_quality', 'rag_metric',
                         'kb_retrieval_window', 'kb_retrieval_day', 'kb_retrieval_gap', 'kb_ground_truth', 'kb_access_record',
                         'kb_alert_state', 'kb_alert_transition']) AS each(name)
       CROSS JOIN LATERAL (SELECT to_regclass('public.' || each.name) AS oid) AS t
       WHERE t.oid IS NOT NULL)
FROM pg_roles AS r
WHERE r.rolname = %(role)s AND to_regclass('public.rag_quality_window') IS NOT NULL
