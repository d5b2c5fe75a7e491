-- Dead alerts are tried again, unless a later one of the fingerprint was delivered: kb_seq never goes back.
UPDATE kb_alert_outbox AS o
SET state = 'pending', settled_at = NULL
WHERE o.state = 'dead'
  AND (%(destination)s::text IS NULL OR o.destination = %(destination)s)
  AND (%(fingerprint)s::text IS NULL OR o.fingerprint = %(fingerprint)s)
  AND NOT EXISTS (
    SELECT FROM kb_alert_outbox AS later
    WHERE (later.destination, later.fingerprint) = (o.destination, o.fingerprint) AND later.kb_seq > o.kb_seq
      AND later.state IN ('sent', 'confirmed'))
