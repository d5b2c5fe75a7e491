-- How delivery stands, one row per destination that was ever used.
SELECT
  coalesce(o.destination, d.destination) AS destination,
  coalesce(o.pending, 0) AS pending, coalesce(o.unconfirmed, 0) AS unconfirmed, coalesce(o.dead, 0) AS dead,
  extract(epoch FROM %(now)s - o.oldest)::float8 AS oldest_pending_s,
  d.last_confirmed_at, d.next_try_at, coalesce(d.failures, 0) AS failures, d.reason
FROM (
  SELECT
    destination,
    count(*) FILTER (WHERE state = 'pending') AS pending,
    count(*) FILTER (WHERE state = 'sent') AS unconfirmed,
    count(*) FILTER (WHERE state = 'dead') AS dead,
    min(queued_at) FILTER (WHERE state = 'pending') AS oldest
  FROM kb_alert_outbox
  WHERE state IN ('pending', 'sent', 'dead')
  GROUP BY destination
) AS o
FULL JOIN kb_alert_destination AS d USING (destination)
ORDER BY 1
