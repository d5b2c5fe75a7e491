-- All evidence of one document for one query, oldest first: what stands, what is outdated, what was superseded.
SELECT
  e.evidence_id, e.query_sha, e.doc_id, e.chunk_id, e.kind, e.weight, e.conversation_id, e.event_id, e.message_id,
  e.correction_id, e.search_event_id, e.document_from, e.observed_at, e.facts, e.rule_version, e.author, e.reason,
  e.recorded_at, e.superseded_at,
  NOT ({is_of_today}) AS is_outdated
FROM kb_evidence AS e
LEFT JOIN stage_document AS d USING (org_id, specialist_id, doc_id)
WHERE e.org_id = %(org_id)s AND e.specialist_id = %(specialist_id)s
  AND e.query_sha = %(query_sha)s AND e.doc_id = %(doc_id)s
ORDER BY e.observed_at, e.evidence_id
