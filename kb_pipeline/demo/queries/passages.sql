-- What the passages of one tenant and language say.
SELECT doc_id, body
FROM upstream.kb_passage_index
WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND language = %(language)s
