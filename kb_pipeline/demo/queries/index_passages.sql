INSERT INTO upstream.kb_passage_index (chunk_id, doc_id, language, body)
SELECT * FROM unnest(%(chunk_ids)s::text[], %(doc_ids)s::text[], %(languages)s::text[], %(bodies)s::text[])
ON CONFLICT (chunk_id) DO UPDATE
SET doc_id = excluded.doc_id, language = excluded.language, body = excluded.body
