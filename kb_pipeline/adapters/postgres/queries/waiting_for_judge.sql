-- How many turns wait for the judge, how many of them for the end of a wait after a failure, and when the first is due.
SELECT
  count(*),
  count(*) FILTER (WHERE s.status = 'error' AND s.retry_at > %(now)s),
  min(s.retry_at) FILTER (WHERE s.status = 'error' AND s.retry_at > %(now)s)
FROM rag_quality AS q
LEFT JOIN rag_judge_score AS s
  ON s.event_id = q.event_id AND s.judge_model = %(judge_model)s AND s.prompt_version = %(prompt_version)s
WHERE q.judge_status IN ('pending', 'error')
