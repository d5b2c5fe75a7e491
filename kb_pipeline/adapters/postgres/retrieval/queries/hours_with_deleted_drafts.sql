-- hours_with_deleted_drafts
-- Hours of the window with outcomes of drafts that the source deleted, as forget_outcomes.sql finds them, and how many.
SELECT date_trunc('hour', coalesce(o.decided_at, o.drafted_at), 'UTC') AS hour, count(*)
FROM (
  SELECT message_id, decided_at, drafted_at FROM kb_draft_outcome
  WHERE decided_at >= %(window_start)s AND decided_at < %(window_end)s AND drafted_at > %(oldest)s
  UNION ALL
  SELECT message_id, decided_at, drafted_at FROM kb_draft_outcome
  WHERE outcome = 'pending' AND drafted_at >= %(window_start)s AND drafted_at < %(window_end)s
    AND drafted_at > %(oldest)s
) AS o
WHERE NOT EXISTS (SELECT FROM kb_source.message AS m WHERE m.message_id = o.message_id)
GROUP BY 1
ORDER BY 1
