-- Passages of one tenant into the index of the engines.
INSERT INTO upstream.kb_passage_index (org_id, specialist_id, chunk_id, doc_id, language, title, body)
SELECT %(org_id)s, %(specialist_id)s, passage.*
FROM unnest(%(chunk_ids)s::text[], %(doc_ids)s::text[], %(languages)s::text[], %(titles)s::text[], %(bodies)s::text[])
  AS passage (chunk_id, doc_id, language, title, body)
ON CONFLICT (org_id, specialist_id, chunk_id) DO UPDATE
SET doc_id = excluded.doc_id, language = excluded.language, title = excluded.title, body = excluded.body
