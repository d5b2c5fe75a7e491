-- One flip.
INSERT INTO kb_alert_transition (
  fingerprint, rule, from_status, to_status, severity, reason, kb_seq, window_end, sentence, reading, happened_at)
VALUES (
  %(fingerprint)s, %(rule)s, %(from_status)s, %(to_status)s, %(flip_severity)s, %(reason)s, %(flip_seq)s,
  %(window_end)s, %(sentence)s, %(reading)s, %(now)s)
