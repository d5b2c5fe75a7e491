-- Text that is gone at the source goes here too.
UPDATE rag_triad AS t
SET question = NULL, context = NULL, passages = NULL, history = NULL, answer = NULL, question_preview = NULL,
    text_expired_at = now()
WHERE t.ts >= %(window_start)s AND t.ts < %(window_end)s AND t.text_expired_at IS NULL
  AND EXISTS (SELECT FROM kb_source.ai_call_body WHERE request_body IS NOT NULL)
  AND NOT EXISTS (SELECT FROM kb_source.ai_call_body AS b WHERE b.event_id = t.event_id AND b.request_body IS NOT NULL)
