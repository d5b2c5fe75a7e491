-- Hours with text whose bodies the source no longer has. A source without any body says nothing at all.
SELECT DISTINCT date_trunc('hour', t.ts, 'UTC') AS hour
FROM rag_triad AS t
WHERE t.text_expired_at IS NULL
  AND EXISTS (SELECT FROM kb_source.ai_call_body WHERE request_body IS NOT NULL)
  AND NOT EXISTS (SELECT FROM kb_source.ai_call_body AS b WHERE b.event_id = t.event_id AND b.request_body IS NOT NULL)
ORDER BY 1
