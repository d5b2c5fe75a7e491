-- Which document each chunk of one tenant's knowledge base belongs to, in any version; the newest version decides.
SELECT DISTINCT ON (chunk.chunk_id) chunk.chunk_id, chunk.doc_id
FROM kb_source.kb_chunk AS chunk
WHERE chunk.org_id = %(org_id)s AND chunk.specialist_id = %(specialist_id)s
ORDER BY chunk.chunk_id, chunk.valid_from DESC
