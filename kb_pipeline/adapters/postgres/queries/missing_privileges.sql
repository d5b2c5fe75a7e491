-- What the current role lacks to run the streets, as words for an administrator, table by table.
SELECT privilege || ' on table ' || table_name, table_number
FROM unnest(ARRAY[
  'rag_call', 'rag_triad', 'rag_metric', 'rag_judge_score', 'rag_quality', 'rag_quality_window', 'rag_quality_day',
  'rag_call_window', 'rag_stale_hour', 'rag_judge_canary', 'rag_judge_calibration', 'kb_activation',
  'kb_retrieval_event', 'kb_retrieval_event_conflict', 'kb_search_event', 'kb_query', 'kb_draft_outcome',
  'kb_evidence', 'kb_ground_truth', 'kb_retrieval_gap', 'kb_retrieval_window', 'kb_retrieval_day'
]) WITH ORDINALITY AS needed_table(table_name, table_number)
CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed(privilege)
WHERE NOT has_table_privilege(to_regclass('public.' || table_name), privilege)
UNION ALL
SELECT 'INSERT on table kb_access_record', 100
WHERE NOT has_any_column_privilege('public.kb_access_record', 'INSERT')
UNION ALL
SELECT 'EXECUTE on function kb_ensure_rag_quality_partition', 101
WHERE NOT has_function_privilege('public.kb_ensure_rag_quality_partition(timestamptz)', 'EXECUTE')
UNION ALL
SELECT 'TEMPORARY on database ' || current_database(), 102
WHERE NOT has_database_privilege(current_database(), 'TEMPORARY')
ORDER BY 2, 1
