INSERT INTO upstream.kb_chunks (org_id, specialist_id, doc_id, chunk_id, title, body, valid_from)
SELECT %(org_id)s, %(specialist_id)s, doc_id, chunk_id, title, body, timestamptz '2025-01-01 00:00+00'
FROM unnest(%(doc_ids)s::text[], %(chunk_ids)s::text[], %(titles)s::text[], %(bodies)s::text[])
  AS article (doc_id, chunk_id, title, body)
ON CONFLICT DO NOTHING
