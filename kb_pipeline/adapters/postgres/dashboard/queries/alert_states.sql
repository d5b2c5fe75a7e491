-- Where every rule stands with every subject, those that fire first.
SELECT fingerprint, rule, metric, subject, status, severity, since, sentence, inhibited_by, is_silenced, window_end, updated_at
FROM kb_alert_state
ORDER BY
  array_position(ARRAY['firing', 'recovering', 'pending', 'no_data', 'ok'], status),
  array_position(ARRAY['critical', 'high', 'warning', 'info', 'low'], severity), rule, fingerprint
LIMIT %(limit)s
