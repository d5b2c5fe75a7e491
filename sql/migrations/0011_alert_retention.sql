-- Alerts and flips have a retention.

COMMENT ON TABLE kb_alert_transition IS
  'Every flip of a state, until its retention: rows are added and never changed.';
