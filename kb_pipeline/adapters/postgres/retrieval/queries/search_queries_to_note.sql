-- A batch of experts' searches whose queries are not in kb_query yet; nobody else gets them meanwhile.
SELECT id, org_id, specialist_id, CASE WHEN text_expired_at IS NULL THEN query END, query_sha, occurred_at
FROM kb_search_event
WHERE noted_at IS NULL AND event_type = 'kb.search.performed'
ORDER BY created_at
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
