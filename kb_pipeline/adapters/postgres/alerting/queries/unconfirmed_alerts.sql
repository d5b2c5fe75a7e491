-- What a destination accepted and nobody has seen there yet.
SELECT destination, fingerprint, kb_seq, state, payload, attempts, reason, queued_at, sent_at
FROM kb_alert_outbox
WHERE destination = %(destination)s AND state = 'sent'
ORDER BY sent_at, fingerprint, kb_seq
LIMIT %(limit)s
