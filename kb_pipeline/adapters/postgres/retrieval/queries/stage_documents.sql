-- Every document as it is at an instant, or one of them: the start of its newest chunk in force, null where it is gone,
-- and when a chunk of it last ended.
INSERT INTO stage_document (org_id, specialist_id, doc_id, started_at, shrunk_at)
SELECT
  org_id, specialist_id, doc_id,
  max(valid_from) FILTER (WHERE valid_to IS NULL OR valid_to > %(as_of)s),
  max(valid_to) FILTER (WHERE valid_to <= %(as_of)s)
FROM kb_source.kb_chunk
WHERE valid_from <= %(as_of)s
  AND (%(doc_id)s::text IS NULL
       OR (org_id = %(org_id)s::uuid AND specialist_id = %(specialist_id)s::uuid AND doc_id = %(doc_id)s))
GROUP BY org_id, specialist_id, doc_id
