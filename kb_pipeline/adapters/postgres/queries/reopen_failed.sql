-- Whatever judge failed on the turns, or was too small for them: the configured one takes them up.
WITH reopened AS (
  UPDATE rag_judge_score SET
    status = CASE status WHEN 'failed' THEN 'error' ELSE 'outdated' END, skip_reason = NULL, attempts = 0,
    failed_runs = 0, retry_at = NULL
  WHERE ts >= %(window_start)s AND ts < %(window_end)s AND status IN ('failed', 'skipped')
  RETURNING ts
), stale AS (
  INSERT INTO rag_stale_hour (hour, stage)
  SELECT DISTINCT date_trunc('hour', ts, 'UTC'), 'publish' FROM reopened ORDER BY 1
  ON CONFLICT (hour, stage) DO UPDATE SET touched_at = now()
)
SELECT count(*) FROM reopened
