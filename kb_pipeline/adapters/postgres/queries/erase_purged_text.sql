-- Text that is gone at the source goes here too.
UPDATE rag_triad AS t
SET question = NULL, context = NULL, passages = NULL, history = NULL, answer = NULL, question_preview = NULL,
    text_expired_at = now()
WHERE t.text_expired_at IS NULL
  AND EXISTS (SELECT 1 FROM kb_source.ai_call_body)
  AND NOT EXISTS (SELECT 1 FROM kb_source.ai_call_body AS b WHERE b.event_id = t.event_id)
  AND EXISTS (SELECT 1 FROM rag_call AS r WHERE r.event_id = t.event_id AND r.parse_status <> 'missing_body')
