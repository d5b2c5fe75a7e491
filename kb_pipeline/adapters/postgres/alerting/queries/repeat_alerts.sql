-- The newest alert of each fingerprint is sent again where nobody can look whether it is there: while it fires every so
-- often, a resolve a few times.
UPDATE kb_alert_outbox AS o
SET state = 'pending', settled_at = NULL
FROM kb_alert_state AS s
WHERE s.fingerprint = o.fingerprint AND s.kb_seq = o.kb_seq AND o.destination = %(destination)s
  AND o.state = 'confirmed'
  AND CASE
    WHEN o.payload ->> 'status' = 'firing' THEN o.sent_at <= %(now)s - %(every)s::interval
    ELSE o.attempts < %(resolves)s AND o.sent_at <= %(now)s - %(spacing)s::interval * o.attempts
  END
