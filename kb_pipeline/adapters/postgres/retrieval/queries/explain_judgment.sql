-- One judgment as it stands.
SELECT
  status, grade, p, positive, negative, conversations, evidence_count, kinds, self_made, first_observed_at,
  last_observed_at, as_of, rule_version, created_at, updated_at
FROM kb_ground_truth
WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND query_sha = %(query_sha)s AND doc_id = %(doc_id)s
