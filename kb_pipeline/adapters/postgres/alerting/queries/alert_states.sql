-- Every state, as it is kept.
SELECT
  fingerprint, rule, metric, subject, memory, before, reading, window_end, since, inhibited_by, is_silenced, notice,
  kb_seq, version
FROM kb_alert_state
ORDER BY fingerprint
