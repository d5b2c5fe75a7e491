-- The engines recorded for one tenant: their retrievals and queries, and how many of these have judged documents.
SELECT
  event.engine,
  count(*) AS retrievals,
  count(DISTINCT event.query_sha) AS queries,
  count(DISTINCT event.query_sha) FILTER (WHERE EXISTS (
    SELECT FROM kb_ground_truth AS truth
    WHERE truth.org_id = event.org_id AND truth.specialist_id = event.specialist_id
      AND truth.query_sha = event.query_sha AND truth.status = 'judged'
    OFFSET 0)) AS judged_queries
FROM kb_retrieval_event AS event
WHERE event.org_id = %(org_id)s AND event.specialist_id = %(specialist_id)s AND event.query_sha IS NOT NULL
  AND (%(since)s::timestamptz IS NULL OR event.occurred_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR event.occurred_at < %(until)s)
GROUP BY event.engine
ORDER BY event.engine
