-- How delivery stands, one row per destination that was ever used. What waits and what is dead are looked up apart, each by
-- its own index: together they would read every alert that was ever confirmed.
SELECT
  coalesce(o.destination, d.destination) AS destination,
  coalesce(o.pending, 0) AS pending, coalesce(o.unconfirmed, 0) AS unconfirmed, coalesce(o.dead, 0) AS dead,
  extract(epoch FROM %(now)s - o.oldest)::float8 AS oldest_pending_s,
  d.last_confirmed_at, d.next_try_at, coalesce(d.failures, 0) AS failures, d.reason
FROM (
  SELECT
    destination,
    sum(pending)::bigint AS pending, sum(unconfirmed)::bigint AS unconfirmed, sum(dead)::bigint AS dead,
    min(oldest) AS oldest
  FROM (
    SELECT
      destination,
      count(*) FILTER (WHERE state = 'pending') AS pending,
      count(*) FILTER (WHERE state = 'sent') AS unconfirmed,
      0 AS dead,
      -- What is sent again has waited since it was last sent.
      min(greatest(queued_at, sent_at)) FILTER (WHERE state = 'pending') AS oldest
    FROM kb_alert_outbox
    WHERE state IN ('pending', 'sent')
    GROUP BY destination
    UNION ALL
    SELECT destination, 0, 0, count(*), NULL
    FROM kb_alert_outbox
    WHERE state = 'dead'
    GROUP BY destination
  ) AS each
  GROUP BY destination
) AS o
FULL JOIN kb_alert_destination AS d USING (destination)
ORDER BY 1
