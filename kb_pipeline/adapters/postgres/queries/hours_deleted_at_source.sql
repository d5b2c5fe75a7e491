-- Hours with a turn that the source deleted: newer than the oldest call that it still has (oldest_at_source.sql).
SELECT DISTINCT date_trunc('hour', r.ts, 'UTC') AS hour
FROM rag_call AS r
WHERE r.ts > %(instant)s AND r.verdict = 'synthesis' AND r.erased_at IS NULL
  AND NOT EXISTS (SELECT FROM kb_source.ai_call AS c WHERE c.event_id = r.event_id)
ORDER BY 1
