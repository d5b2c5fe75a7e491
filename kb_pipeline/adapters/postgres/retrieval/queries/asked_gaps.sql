-- The diagnoses that have a subject, of the days before the newest one, each with the words of its query while there are
-- any.
SELECT
  g.message_id, g.org_id, g.specialist_id, g.kind, g.doc_id, g.query_sha,
  coalesce(nullif(e.query, ''), q.query) AS query,
  g.decided_at
FROM kb_retrieval_gap AS g
LEFT JOIN kb_retrieval_event AS e ON e.id = g.event_id AND e.org_id = g.org_id AND e.specialist_id = g.specialist_id
LEFT JOIN kb_query AS q ON q.org_id = g.org_id AND q.specialist_id = g.specialist_id AND q.query_sha = g.query_sha
WHERE g.kind NOT IN ('none', 'undetermined')
  AND g.decided_at > (SELECT max(decided_at) FROM kb_retrieval_gap) - make_interval(days => %(days)s)
