INSERT INTO rag_stale_hour (hour, stage)
SELECT DISTINCT date_trunc('hour', ts, 'UTC'), 'publish' FROM unnest(%(ts)s::timestamptz[]) AS ts
ORDER BY 1
ON CONFLICT (hour, stage) DO UPDATE SET touched_at = now()
