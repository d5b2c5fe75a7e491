-- Where every rule, or one of them, stands with every subject, or one alert by its fingerprint, those that fire first.
SELECT fingerprint, rule, metric, subject, status, severity, since, sentence, inhibited_by, is_silenced, window_end, updated_at
FROM kb_alert_state
WHERE (%(fingerprint)s::text IS NULL OR fingerprint = %(fingerprint)s)
  AND (%(rule)s::text IS NULL OR rule = %(rule)s)
ORDER BY
  array_position(ARRAY['firing', 'recovering', 'pending', 'no_data', 'ok'], status),
  array_position(ARRAY['critical', 'high', 'warning', 'info', 'low'], severity), rule, fingerprint
LIMIT %(limit)s
