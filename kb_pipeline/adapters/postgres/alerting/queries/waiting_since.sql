-- Since when the turn waits that has waited longest for the judge: from its publication on, were it older itself. One that
-- the judge failed on waits by intention until it is due again.
SELECT min(greatest(q.ts, q.created_at, s.retry_at))
FROM rag_quality AS q
LEFT JOIN rag_judge_score AS s
  ON q.judge_status = 'error' AND s.event_id = q.event_id
  AND s.judge_model = %(judge_model)s AND s.prompt_version = %(prompt_version)s
WHERE q.judge_status IN ('pending', 'error') AND q.ts <= %(now)s AND (s.retry_at IS NULL OR s.retry_at <= %(now)s)
