-- A state by compare-and-set: no row is written where somebody else changed it since it was read.
INSERT INTO kb_alert_state AS s (
  fingerprint, rule, metric, subject, status, severity, since, window_end, sentence, reading, memory, before,
  inhibited_by, is_silenced, notice, kb_seq, version, updated_at)
VALUES (
  %(fingerprint)s, %(rule)s, %(metric)s, %(subject)s, %(status)s, %(severity)s, %(since)s, %(window_end)s,
  %(sentence)s, %(reading)s, %(memory)s, %(before)s, %(inhibited_by)s, %(is_silenced)s, %(notice)s, %(kb_seq)s,
  %(version)s, %(now)s)
ON CONFLICT (fingerprint) DO UPDATE SET
  status = excluded.status, severity = excluded.severity, since = excluded.since, window_end = excluded.window_end,
  sentence = excluded.sentence, reading = excluded.reading, memory = excluded.memory, before = excluded.before,
  inhibited_by = excluded.inhibited_by, is_silenced = excluded.is_silenced, notice = excluded.notice,
  kb_seq = excluded.kb_seq, version = excluded.version, updated_at = excluded.updated_at
WHERE s.version = %(expected_version)s
