-- Hours whose windows count other events than there are. Compared by number and newest of each row, because created_at is
-- the start of a transaction: what committed late may be older than what was counted.
WITH event AS (
  SELECT
    date_trunc('hour', occurred_at, 'UTC') AS hour, org_id, specialist_id, engine,
    count(*) AS events, max(created_at) AS newest
  FROM kb_retrieval_event
  WHERE occurred_at >= %(window_start)s AND occurred_at < %(window_end)s
  GROUP BY 1, 2, 3, 4
), counted AS (
  SELECT hour, org_id, specialist_id, engine, retrievals + shadows AS events, newest_event_at AS newest
  FROM kb_retrieval_window
  WHERE hour >= %(window_start)s AND hour < %(window_end)s
)
SELECT
  hour,
  count(*),
  md5(string_agg(concat_ws('|', org_id, specialist_id, engine, e.events, e.newest), ',' ORDER BY org_id, specialist_id, engine))
FROM event AS e
FULL JOIN counted AS c USING (hour, org_id, specialist_id, engine)
WHERE (e.events, e.newest) IS DISTINCT FROM (c.events, c.newest)
GROUP BY hour
ORDER BY hour
