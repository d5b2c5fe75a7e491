-- Every chunk of one tenant's knowledge base, old versions included, with what an operator may have left empty filled in.
SELECT
  doc_id,
  coalesce(chunk_id, doc_id) AS chunk_id,
  title,
  coalesce(text, '') AS text,
  CASE WHEN isfinite(valid_from) THEN valid_from ELSE '1970-01-01Z'::timestamptz END AS valid_from,
  CASE WHEN isfinite(valid_to) THEN valid_to END AS valid_to,
  source_correction_id
FROM kb_source.kb_chunk
WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND doc_id IS NOT NULL
ORDER BY doc_id, chunk_id, valid_from
