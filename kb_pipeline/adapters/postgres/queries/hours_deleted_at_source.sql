-- Hours with a turn that the source deleted. What the source merely purged by age (nothing older that we know is left
-- there) keeps its scores and loses its text, in drop_purged_text.sql. An empty source says nothing at all.
SELECT DISTINCT date_trunc('hour', r.ts, 'UTC') AS hour
FROM rag_call AS r
WHERE r.verdict = 'synthesis' AND r.erased_at IS NULL
  AND r.ts > (
    SELECT k.ts FROM rag_call AS k
    WHERE EXISTS (SELECT FROM kb_source.ai_call AS c WHERE c.event_id = k.event_id)
    ORDER BY k.ts
    LIMIT 1)
  AND NOT EXISTS (SELECT FROM kb_source.ai_call AS c WHERE c.event_id = r.event_id)
ORDER BY 1
