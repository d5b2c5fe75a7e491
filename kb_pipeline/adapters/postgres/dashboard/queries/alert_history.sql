-- Changes of alert states, or of one of them, the newest first, before a place in that order if one is given.
SELECT transition_id, happened_at, fingerprint, rule, from_status, to_status, severity, reason, sentence
FROM kb_alert_transition
WHERE (%(before)s::bigint IS NULL OR transition_id < %(before)s)
  AND (%(fingerprint)s::text IS NULL OR fingerprint = %(fingerprint)s)
ORDER BY transition_id DESC
LIMIT %(limit)s
