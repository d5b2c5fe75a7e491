-- What may be sent to a destination now: nothing while it is held, and nothing of a fingerprint with a batch in flight.
-- Whole fingerprints from their oldest alert on, so that the order of kb_seq holds whatever the limit.
SELECT o.destination, o.fingerprint, o.kb_seq, o.state, o.payload, o.attempts, o.reason, o.queued_at, o.sent_at
FROM kb_alert_outbox AS o
WHERE o.destination = %(destination)s AND o.state = 'pending'
  AND NOT EXISTS (
    SELECT FROM kb_alert_outbox AS f
    WHERE (f.destination, f.fingerprint, f.state) = (o.destination, o.fingerprint, 'sent'))
  AND NOT EXISTS (
    SELECT FROM kb_alert_destination AS d WHERE d.destination = o.destination AND d.next_try_at > %(now)s)
ORDER BY min(o.queued_at) OVER (PARTITION BY o.fingerprint), o.fingerprint, o.kb_seq
LIMIT %(limit)s
