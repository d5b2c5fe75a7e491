-- The newest retrieval of one engine for each query of one tenant that has judged documents, shadow runs among them.
SELECT DISTINCT ON (event.query_sha) event.query_sha, event.retrieved
FROM kb_retrieval_event AS event
WHERE event.org_id = %(org_id)s AND event.specialist_id = %(specialist_id)s AND event.engine = %(engine)s
  AND (%(since)s::timestamptz IS NULL OR event.occurred_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR event.occurred_at < %(until)s)
  AND EXISTS (
    SELECT FROM kb_ground_truth AS truth
    WHERE truth.org_id = event.org_id AND truth.specialist_id = event.specialist_id
      AND truth.query_sha = event.query_sha AND truth.status = 'judged'
    OFFSET 0)
ORDER BY event.query_sha, event.occurred_at DESC, event.id
