-- Alerts that arrived, and those that were refused for good.
SELECT
  count(*) FILTER (WHERE state IN ('sent', 'confirmed')),
  count(*) FILTER (WHERE state = 'dead')
FROM kb_alert_outbox
