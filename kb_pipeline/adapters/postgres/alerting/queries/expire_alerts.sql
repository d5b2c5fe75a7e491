-- A batch of alerts that were settled long ago leaves, from the oldest of a fingerprint on: what is still to be sent, and
-- what comes after it, stays. So does the newest of each fingerprint, which is sent and seen anew for as long as it fires.
WITH due AS (
  SELECT o.destination, o.fingerprint, o.kb_seq
  FROM kb_alert_outbox AS o
  WHERE o.settled_at < %(before)s
    AND NOT EXISTS (
      SELECT FROM kb_alert_outbox AS earlier
      WHERE (earlier.destination, earlier.fingerprint) = (o.destination, o.fingerprint) AND earlier.kb_seq < o.kb_seq
        AND (earlier.settled_at IS NULL OR earlier.settled_at >= %(before)s))
    AND EXISTS (
      SELECT FROM kb_alert_outbox AS later
      WHERE (later.destination, later.fingerprint) = (o.destination, o.fingerprint) AND later.kb_seq > o.kb_seq)
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
DELETE FROM kb_alert_outbox AS o USING due
WHERE (o.destination, o.fingerprint, o.kb_seq) = (due.destination, due.fingerprint, due.kb_seq)
