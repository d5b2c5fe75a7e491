-- Whatever judge failed on the turns: the configured one takes them up.
WITH reopened AS (
  UPDATE rag_judge_score SET status = 'error', attempts = 0, failed_runs = 0, retry_at = NULL
  WHERE ts >= %(window_start)s AND ts < %(window_end)s AND status = 'failed'
  RETURNING ts
), stale AS (
  INSERT INTO rag_stale_hour (hour, stage)
  SELECT DISTINCT date_trunc('hour', ts, 'UTC'), 'publish' FROM reopened ORDER BY 1
  ON CONFLICT (hour, stage) DO UPDATE SET touched_at = now()
)
SELECT count(*) FROM reopened
