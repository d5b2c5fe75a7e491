-- Turns that the source deleted, as hours_deleted_at_source.sql finds them.
UPDATE rag_call AS r SET erased_at = now()
WHERE r.ts >= %(window_start)s AND r.ts < %(window_end)s AND r.ts > %(instant)s
  AND r.verdict = 'synthesis' AND r.erased_at IS NULL
  AND NOT EXISTS (SELECT FROM kb_source.ai_call AS c WHERE c.event_id = r.event_id)
