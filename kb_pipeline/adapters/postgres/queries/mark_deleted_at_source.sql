-- As in hours_deleted_at_source.sql, which says why.
UPDATE rag_call AS r SET erased_at = now()
WHERE r.ts >= %(window_start)s AND r.ts < %(window_end)s
  AND r.verdict = 'synthesis' AND r.erased_at IS NULL
  AND r.ts > (
    SELECT k.ts FROM rag_call AS k
    WHERE EXISTS (SELECT FROM kb_source.ai_call AS c WHERE c.event_id = k.event_id)
    ORDER BY k.ts
    LIMIT 1)
  AND NOT EXISTS (SELECT FROM kb_source.ai_call AS c WHERE c.event_id = r.event_id)
