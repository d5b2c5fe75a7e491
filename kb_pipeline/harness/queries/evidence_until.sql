-- The evidence of one tenant that stood at an instant, query and document together, oldest first, with the query's words
-- where they are wanted. stage_outdated and stage_self_made are filled in before.
SELECT
  evidence.query_sha,
  CASE WHEN %(with_words)s THEN words.query END,
  evidence.doc_id,
  (evidence.org_id, evidence.specialist_id, evidence.query_sha, evidence.doc_id)
    IN (SELECT org_id, specialist_id, query_sha, doc_id FROM stage_self_made),
  evidence.kind,
  evidence.weight,
  evidence.conversation_id,
  evidence.observed_at
FROM kb_evidence AS evidence
LEFT JOIN LATERAL (
  SELECT query.query
  FROM kb_query AS query
  WHERE query.org_id = evidence.org_id AND query.specialist_id = evidence.specialist_id
    AND query.query_sha = evidence.query_sha
  OFFSET 0
) AS words ON true
WHERE evidence.org_id = %(org_id)s AND evidence.specialist_id = %(specialist_id)s
  AND evidence.superseded_at IS NULL AND evidence.observed_at <= %(as_of)s
  AND evidence.evidence_id NOT IN (SELECT evidence_id FROM stage_outdated)
  AND (%(with_tombstones)s OR words.query IS NOT NULL)
ORDER BY evidence.query_sha, evidence.doc_id, evidence.observed_at, evidence.evidence_id
