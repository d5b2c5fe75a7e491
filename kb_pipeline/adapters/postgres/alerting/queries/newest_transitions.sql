-- The newest flips, of one fingerprint or of all.
SELECT
  fingerprint, rule, from_status, to_status, severity, reason, kb_seq, window_end, sentence, happened_at
FROM kb_alert_transition
WHERE (%(fingerprint)s::text IS NULL OR fingerprint = %(fingerprint)s) AND happened_at >= %(since)s
ORDER BY happened_at DESC, transition_id DESC
LIMIT %(limit)s
