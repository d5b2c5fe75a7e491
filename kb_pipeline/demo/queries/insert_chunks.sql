-- Chunks of one tenant's knowledge base; one that is there already stays as it is.
INSERT INTO upstream.kb_chunks (
  org_id, specialist_id, doc_id, chunk_id, title, body, valid_from, source_correction_id)
SELECT %(org_id)s, %(specialist_id)s, chunk.*
FROM unnest(
  %(doc_ids)s::text[], %(chunk_ids)s::text[], %(titles)s::text[], %(bodies)s::text[], %(valid_from)s::timestamptz[],
  %(source_correction_ids)s::uuid[])
  AS chunk (doc_id, chunk_id, title, body, valid_from, source_correction_id)
ON CONFLICT DO NOTHING
