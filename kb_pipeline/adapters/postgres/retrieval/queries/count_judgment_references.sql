-- Evidence that stands without its query, judgments without evidence that stands or without their query.
SELECT
  (SELECT count(*) FROM kb_evidence AS e
   LEFT JOIN kb_query AS q USING (org_id, specialist_id, query_sha)
   WHERE e.superseded_at IS NULL AND q.query_sha IS NULL) AS evidence_without_its_query,
  (SELECT count(*) FROM kb_ground_truth AS t
   LEFT JOIN kb_query AS q USING (org_id, specialist_id, query_sha)
   WHERE q.query_sha IS NULL) AS judgments_without_their_query,
  (SELECT count(*) FROM kb_ground_truth AS t
   WHERE NOT EXISTS (
     SELECT FROM kb_evidence AS e
     WHERE e.superseded_at IS NULL
       AND (e.org_id, e.specialist_id, e.query_sha, e.doc_id) = (t.org_id, t.specialist_id, t.query_sha, t.doc_id)))
   AS judgments_without_evidence
