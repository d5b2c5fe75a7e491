-- A batch of flips past their retention leaves; where each alert stands is in kb_alert_state. Rows are never changed, so
-- nothing is locked, which would take the right to change them.
DELETE FROM kb_alert_transition
WHERE transition_id IN (
  SELECT transition_id FROM kb_alert_transition WHERE happened_at < %(before)s
  ORDER BY happened_at
  LIMIT %(limit)s)
