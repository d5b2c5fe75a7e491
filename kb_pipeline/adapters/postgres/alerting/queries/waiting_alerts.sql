-- What is not done with at any destination, held or not, the oldest first.
SELECT destination, fingerprint, kb_seq, state, payload, attempts, reason, queued_at, sent_at
FROM kb_alert_outbox
WHERE state IN ('pending', 'sent')
ORDER BY queued_at, destination, fingerprint, kb_seq
LIMIT %(limit)s
