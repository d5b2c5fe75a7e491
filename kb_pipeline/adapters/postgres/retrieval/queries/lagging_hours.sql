-- lagging_hours
-- The end of a statement that reviewed_drafts.sql begins: hours of the window with drafts whose outcome is missing or of
-- another state or other rules, how many, and a digest that changes whenever any of them does.
SELECT
  date_trunc('hour', coalesce(r.decided_at, r.drafted_at), 'UTC') AS hour,
  count(*),
  encode(sha256(convert_to(string_agg(r.source_state, '' ORDER BY r.message_id), 'UTF8')), 'hex')
FROM reviewed AS r
LEFT JOIN kb_draft_outcome AS o ON o.message_id = r.message_id
WHERE coalesce(r.decided_at, r.drafted_at) >= %(window_start)s AND coalesce(r.decided_at, r.drafted_at) < %(window_end)s
  AND (o.source_state IS DISTINCT FROM r.source_state OR o.rule_version IS DISTINCT FROM %(rules)s)
  -- An outcome whose event is past its retention stands as it was.
  AND (o.event_id IS NULL OR EXISTS (SELECT FROM kb_retrieval_event AS kept WHERE kept.id = o.event_id))
GROUP BY 1
ORDER BY 1
