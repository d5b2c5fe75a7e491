INSERT INTO rag_stale_hour (hour, stage)
SELECT hour, %(stage)s
FROM generate_series(%(window_start)s::timestamptz, %(window_end)s::timestamptz - interval '1 microsecond', interval '1 hour') AS hour
ON CONFLICT (hour, stage) DO UPDATE SET touched_at = now()
