-- All evidence of one document for one query, oldest first: what stands, what is outdated, what was superseded.
SELECT
  evidence_id, query_sha, doc_id, chunk_id, kind, weight, conversation_id, event_id, message_id, correction_id,
  search_event_id, document_from, observed_at, facts, rule_version, author, reason, recorded_at, superseded_at,
  evidence_id IN (SELECT evidence_id FROM stage_outdated) AS is_outdated
FROM kb_evidence
WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND query_sha = %(query_sha)s AND doc_id = %(doc_id)s
ORDER BY observed_at, evidence_id
