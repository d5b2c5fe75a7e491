-- The judged documents of one tenant with their queries' words, queries together; also those that are self-made.
-- OFFSET 0 keeps the look-up of the words one by their whole key: without statistics a join would go by tenant alone.
SELECT
  truth.query_sha,
  words.query,
  truth.doc_id,
  truth.grade,
  truth.self_made,
  truth.as_of,
  truth.rule_version,
  truth.conversations,
  array_to_string(truth.kinds, ' '),
  truth.first_observed_at,
  truth.last_observed_at
FROM kb_ground_truth AS truth
LEFT JOIN LATERAL (
  SELECT query.query
  FROM kb_query AS query
  WHERE query.org_id = truth.org_id AND query.specialist_id = truth.specialist_id AND query.query_sha = truth.query_sha
  OFFSET 0
) AS words ON true
WHERE truth.org_id = %(org_id)s AND truth.specialist_id = %(specialist_id)s
  AND (truth.status = 'judged' OR truth.self_made)
  AND (%(with_tombstones)s OR words.query IS NOT NULL)
ORDER BY truth.query_sha, truth.doc_id
