-- Events of the hour where a column that is always filled is not.
SELECT
  count(*) AS rows,
  count(*) FILTER (WHERE num_nulls(
    id, org_id, specialist_id, conversation_id, engine, query, top_k, result_count, retrieved, created_at, occurred_at,
    candidate_pool, degraded, shadow) > 0) AS rows_with_an_empty_column
FROM kb_retrieval_event
WHERE occurred_at >= %(window_start)s AND occurred_at < %(window_end)s
