-- Evidence of documents that are gone, or are no longer what they were when it was seen: a chunk is newer, or one ended.
-- Of all documents, or of one for one query where these are given. Of a tenant without a single chunk nothing is known.
WITH tenant AS MATERIALIZED (
  SELECT DISTINCT org_id, specialist_id FROM kb_source.kb_chunk
), document AS MATERIALIZED (
  SELECT
    org_id, specialist_id, doc_id,
    max(valid_from) FILTER (WHERE valid_to IS NULL OR valid_to > %(as_of)s) AS started_at,
    max(valid_to) FILTER (WHERE valid_to <= %(as_of)s)                      AS shrunk_at
  FROM kb_source.kb_chunk
  WHERE valid_from <= %(as_of)s
    AND (%(doc_id)s::text IS NULL
         OR (org_id = %(org_id)s::uuid AND specialist_id = %(specialist_id)s::uuid AND doc_id = %(doc_id)s))
  GROUP BY org_id, specialist_id, doc_id
)
INSERT INTO stage_outdated (evidence_id)
SELECT e.evidence_id
FROM kb_evidence AS e
JOIN tenant USING (org_id, specialist_id)
LEFT JOIN document AS d USING (org_id, specialist_id, doc_id)
WHERE e.superseded_at IS NULL
  AND (%(doc_id)s::text IS NULL
       OR (e.org_id = %(org_id)s::uuid AND e.specialist_id = %(specialist_id)s::uuid
           AND e.query_sha = %(query_sha)s AND e.doc_id = %(doc_id)s))
  AND (d.started_at IS NULL OR d.started_at > coalesce(e.document_from, e.observed_at) OR d.shrunk_at > e.observed_at)
