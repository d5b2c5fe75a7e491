-- Diagnosed drafts of a window, the newest first, after a place in that order if one is given; previews, no text.
SELECT
  g.message_id, g.decided_at, g.org_id, g.specialist_id, g.conversation_id, g.engine, g.kind, g.is_deep, g.support,
  g.doc_id, g.rank, g.pool_rank, g.subject, g.query_sha, q.query_preview
FROM kb_retrieval_gap AS g
LEFT JOIN kb_query AS q USING (org_id, specialist_id, query_sha)
WHERE g.decided_at >= %(window_start)s AND g.decided_at < %(window_end)s
  AND (%(org)s::uuid IS NULL OR g.org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR g.specialist_id = %(specialist)s)
  AND (%(engine)s::text IS NULL OR g.engine = %(engine)s)
  AND (%(kind)s::text IS NULL OR g.kind = %(kind)s)
  AND (%(after_at)s::timestamptz IS NULL OR (g.decided_at, g.message_id) < (%(after_at)s, %(after_id)s::uuid))
ORDER BY g.decided_at DESC, g.message_id DESC
LIMIT %(limit)s
