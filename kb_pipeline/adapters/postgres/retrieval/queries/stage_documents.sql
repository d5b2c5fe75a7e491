-- Documents as they are at an instant: the start of the newest chunk in force, null where the document is gone, and when a
-- chunk of it last ended. All of them, or those of one tenant, or one of them.
INSERT INTO stage_document (org_id, specialist_id, doc_id, started_at, shrunk_at)
SELECT
  org_id, specialist_id, doc_id,
  max(valid_from) FILTER (WHERE valid_to IS NULL OR valid_to > %(as_of)s),
  max(valid_to) FILTER (WHERE valid_to <= %(as_of)s)
FROM kb_source.kb_chunk
WHERE valid_from <= %(as_of)s
  AND (%(org_id)s::uuid IS NULL OR (org_id = %(org_id)s AND specialist_id = %(specialist_id)s))
  AND (%(doc_id)s::text IS NULL OR doc_id = %(doc_id)s)
GROUP BY org_id, specialist_id, doc_id
