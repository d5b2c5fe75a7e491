-- What these drafts said and say no more ceases to count. Experts' own searches and words are not theirs.
UPDATE kb_evidence AS e
SET superseded_at = now()
WHERE e.message_id = ANY (%(message_ids)s::uuid[])
  AND e.superseded_at IS NULL AND e.search_event_id IS NULL AND e.kind <> 'settled'
  AND NOT EXISTS (
    SELECT FROM stage_evidence AS s
    WHERE (s.org_id, s.specialist_id, s.query_sha, s.doc_id, s.kind, s.message_id, s.weight, s.observed_at, s.facts)
        = (e.org_id, e.specialist_id, e.query_sha, e.doc_id, e.kind, e.message_id, e.weight, e.observed_at, e.facts)
      AND s.search_event_id IS NULL
      AND (s.chunk_id, s.conversation_id, s.event_id, s.correction_id, s.document_from)
          IS NOT DISTINCT FROM (e.chunk_id, e.conversation_id, e.event_id, e.correction_id, e.document_from))
