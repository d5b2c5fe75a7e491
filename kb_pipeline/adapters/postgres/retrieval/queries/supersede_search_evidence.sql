-- What these searches said and say no more ceases to count: a click whose document was cited later.
UPDATE kb_evidence AS e
SET superseded_at = now()
FROM stage_search AS step
WHERE e.search_event_id = step.id AND e.superseded_at IS NULL
  AND NOT EXISTS (
    SELECT FROM stage_evidence AS s
    WHERE (s.org_id, s.specialist_id, s.query_sha, s.doc_id, s.kind, s.search_event_id, s.weight, s.observed_at, s.facts)
        = (e.org_id, e.specialist_id, e.query_sha, e.doc_id, e.kind, e.search_event_id, e.weight, e.observed_at, e.facts)
      AND (s.chunk_id, s.conversation_id, s.message_id, s.document_from)
          IS NOT DISTINCT FROM (e.chunk_id, e.conversation_id, e.message_id, e.document_from))
