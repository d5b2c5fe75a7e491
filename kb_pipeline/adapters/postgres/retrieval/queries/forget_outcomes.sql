-- forget_outcomes
-- Deletes the outcomes of drafts of the window that the source deleted: newer than the oldest that it still has
-- (oldest_draft_at_source.sql). Returns the drafts.
DELETE FROM kb_draft_outcome AS o
USING (
  SELECT message_id FROM kb_draft_outcome
  WHERE decided_at >= %(window_start)s AND decided_at < %(window_end)s AND drafted_at > %(oldest)s
  UNION ALL
  SELECT message_id FROM kb_draft_outcome
  WHERE outcome = 'pending' AND drafted_at >= %(window_start)s AND drafted_at < %(window_end)s
    AND drafted_at > %(oldest)s
) AS known
WHERE o.message_id = known.message_id
  AND NOT EXISTS (SELECT FROM kb_source.message AS m WHERE m.message_id = o.message_id)
RETURNING o.message_id
