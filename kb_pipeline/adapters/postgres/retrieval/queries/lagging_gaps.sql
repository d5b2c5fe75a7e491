-- Hours with drafts whose diagnosis is missing, or of another state or other rules: a run that ended between outcomes and
-- diagnoses left them. Only what retrieval/gaps diagnoses, an edit or a rejection with a correction, and what it diagnosed
-- before; and only what the source still has, and whose retrieval still has its query.
SELECT
  date_trunc('hour', o.decided_at, 'UTC') AS hour,
  count(*),
  md5(string_agg(o.message_id || o.source_state, ',' ORDER BY o.message_id))
FROM kb_draft_outcome AS o
JOIN kb_retrieval_event AS e ON e.id = o.event_id
JOIN kb_source.message AS m ON m.message_id = o.message_id
LEFT JOIN kb_retrieval_gap AS g ON g.message_id = o.message_id
WHERE o.decided_at >= %(window_start)s AND o.decided_at < %(window_end)s
  AND NOT e.shadow AND btrim(e.query, %(blanks)s) <> ''
  AND (g.message_id IS NOT NULL
       OR (o.outcome IN ('edited_light', 'edited_heavy', 'rejected') AND o.correction_id IS NOT NULL))
  AND (g.source_state IS DISTINCT FROM o.source_state OR g.rule_version IS DISTINCT FROM %(rules)s)
GROUP BY 1
ORDER BY 1
