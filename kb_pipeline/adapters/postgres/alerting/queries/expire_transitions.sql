-- A batch of flips past their retention leaves; where each alert stands is in kb_alert_state.
WITH due AS (
  SELECT transition_id FROM kb_alert_transition WHERE happened_at < %(before)s
  ORDER BY happened_at
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
DELETE FROM kb_alert_transition AS t USING due WHERE t.transition_id = due.transition_id
