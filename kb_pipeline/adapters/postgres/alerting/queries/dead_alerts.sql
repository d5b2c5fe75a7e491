-- What was given up, the newest first.
SELECT destination, fingerprint, kb_seq, state, payload, attempts, reason, queued_at, sent_at
FROM kb_alert_outbox
WHERE state = 'dead' AND (%(destination)s::text IS NULL OR destination = %(destination)s)
ORDER BY settled_at DESC, fingerprint, kb_seq
LIMIT %(limit)s
