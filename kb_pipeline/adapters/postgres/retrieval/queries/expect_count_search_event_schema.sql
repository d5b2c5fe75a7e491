-- Search events of the hour where a column that is always filled is not.
SELECT
  count(*) AS rows,
  count(*) FILTER (WHERE num_nulls(id, org_id, specialist_id, search_id, event_type, created_at, occurred_at) > 0)
    AS rows_with_an_empty_column
FROM kb_search_event
WHERE occurred_at >= %(window_start)s AND occurred_at < %(window_end)s
