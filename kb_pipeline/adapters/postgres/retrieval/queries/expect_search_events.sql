SELECT
  -- What Great Expectations reads: the experts' search events of one hour. The file begins with SELECT because Great
  -- Expectations asks for that. It goes through SQLAlchemy as text, so no percent sign stands in it, and no colon alone
  -- before a word.
  e.*,
  extract(epoch FROM e.occurred_at - e.created_at)::float8 AS seconds_ahead,
  CASE WHEN e.query IS NULL AND e.text_expired_at IS NULL THEN 'absent' ELSE 'known' END AS query_state
FROM kb_search_event AS e
WHERE e.occurred_at >= {window_start} AND e.occurred_at < {window_end}
