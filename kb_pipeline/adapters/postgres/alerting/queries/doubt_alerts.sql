-- The newest alert of each fingerprint, confirmed a while ago, is to be seen anew: for as long as it fires, and once more
-- after it resolved, since a receiver that queues may have let an earlier one overtake it.
UPDATE kb_alert_outbox AS o
SET state = 'sent', settled_at = NULL
FROM kb_alert_state AS s
WHERE s.fingerprint = o.fingerprint AND s.kb_seq = o.kb_seq AND o.destination = %(destination)s
  AND o.state = 'confirmed' AND o.settled_at <= %(now)s - %(every)s::interval
  AND (o.payload ->> 'status' = 'firing' OR o.settled_at < o.sent_at + %(every)s::interval)
