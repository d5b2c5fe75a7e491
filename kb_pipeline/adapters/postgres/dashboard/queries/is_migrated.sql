-- Whether the tables that the service reads are there, and may be read.
SELECT bool_and(coalesce(has_table_privilege(to_regclass('public.' || each.name), 'SELECT'), false))
FROM unnest(ARRAY['rag_quality_window', 'kb_retrieval_day', 'kb_alert_state']) AS each (name)
