-- The chunks of one tenant's knowledge base in force at an instant, documents together.
SELECT chunk.doc_id, chunk.chunk_id, chunk.title, chunk.text, chunk.valid_from
FROM kb_source.kb_chunk AS chunk
WHERE chunk.org_id = %(org_id)s AND chunk.specialist_id = %(specialist_id)s
  AND chunk.valid_from <= %(as_of)s AND (chunk.valid_to IS NULL OR chunk.valid_to > %(as_of)s)
ORDER BY chunk.doc_id COLLATE "C", chunk.chunk_id COLLATE "C", chunk.valid_from
