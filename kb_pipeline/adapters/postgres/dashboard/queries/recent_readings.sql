-- The newest readings of stored bodies by the pipeline: one row for each batch of a run.
SELECT read_at, actor, purpose, run_id, ts_from, ts_to, bodies
FROM kb_access_record
WHERE purpose = 'grading' AND read_at >= %(since)s
ORDER BY read_at DESC
LIMIT %(limit)s
