-- Rows of the hour where a column that is always filled is not.
SELECT
  count(*) AS rows,
  count(*) FILTER (WHERE num_nulls(
    event_id, ts, tenant, engine, surface, parse_status, had_context, num_passages, context_chars, answer_chars, refused,
    answer_truncated, judge_status, created_at) > 0) AS rows_with_an_empty_column
FROM rag_quality
WHERE ts >= %(window_start)s AND ts < %(window_end)s
