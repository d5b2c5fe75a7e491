-- Search events of the hour that share an id.
SELECT count(*) FILTER (WHERE copies > 1) AS rows_that_share_an_id
FROM (
  SELECT count(*) OVER (PARTITION BY id) AS copies
  FROM kb_search_event
  WHERE occurred_at >= %(window_start)s AND occurred_at < %(window_end)s
) AS event
