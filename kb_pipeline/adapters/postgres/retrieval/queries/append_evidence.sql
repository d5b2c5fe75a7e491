-- Adds what is staged and does not stand yet: what stands by now says the same. Of two that say the same of one draft or
-- step the heavier counts. A draft that was forgotten meanwhile has no outcome any more, and gets no evidence back.
INSERT INTO kb_evidence (
  org_id, specialist_id, query_sha, doc_id, chunk_id, kind, weight, conversation_id, event_id, message_id, correction_id,
  search_event_id, document_from, observed_at, facts, rule_version)
SELECT DISTINCT ON (message_id, search_event_id, query_sha, doc_id, kind)
  org_id, specialist_id, query_sha, doc_id, chunk_id, kind, weight, conversation_id, event_id, message_id, correction_id,
  search_event_id, document_from, observed_at, facts, %(rules)s
FROM stage_evidence AS s
WHERE s.search_event_id IS NOT NULL OR EXISTS (SELECT FROM kb_draft_outcome AS o WHERE o.message_id = s.message_id)
ORDER BY message_id, search_event_id, query_sha, doc_id, kind, abs(weight) DESC
ON CONFLICT DO NOTHING
