-- Says that kb_query has the queries of these events, and fills in the hash that a writer left out or got wrong.
UPDATE kb_retrieval_event AS event
SET noted_at = now(), query_sha = noted.query_sha
FROM unnest(%(ids)s::uuid[], %(query_shas)s::text[]) AS noted (id, query_sha)
WHERE event.id = noted.id
