-- The judged documents of one tenant without any words, queries together; also those that are self-made.
SELECT truth.query_sha, NULL, truth.doc_id, truth.grade, truth.self_made
FROM kb_ground_truth AS truth
WHERE truth.org_id = %(org_id)s AND truth.specialist_id = %(specialist_id)s
  AND (truth.status = 'judged' OR truth.self_made)
  AND (%(with_tombstones)s OR EXISTS (
    SELECT FROM kb_query AS query
    WHERE query.org_id = truth.org_id AND query.specialist_id = truth.specialist_id
      AND query.query_sha = truth.query_sha AND query.query IS NOT NULL
    OFFSET 0))
ORDER BY truth.query_sha, truth.doc_id
