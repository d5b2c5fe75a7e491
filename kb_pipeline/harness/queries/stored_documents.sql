-- Those of the given document ids that one tenant's knowledge base has, in any version.
SELECT DISTINCT chunk.doc_id
FROM kb_source.kb_chunk AS chunk
WHERE chunk.org_id = %(org_id)s AND chunk.specialist_id = %(specialist_id)s AND chunk.doc_id = ANY(%(doc_ids)s::text[])
