-- Hours that hold work, with a token that changes when any of it makes progress.
WITH unexamined AS (
  SELECT date_trunc('hour', c.ts, 'UTC') AS hour, count(*) AS calls, max(c.ts) AS newest
  FROM kb_source.ai_call AS c
  CROSS JOIN LATERAL (
    SELECT coalesce(c.surface, '') = ANY (%(surfaces)s) AND coalesce(c.tenant, '') <> %(pipeline_tenant)s AS needed
  ) AS n
  LEFT JOIN rag_call AS r ON r.event_id = c.event_id
  LEFT JOIN LATERAL (
    SELECT bool_or(b.request_body IS NOT NULL AND b.response_body IS NOT NULL) AS whole
    FROM kb_source.ai_call_body AS b
    WHERE b.event_id = c.event_id
  ) AS b ON n.needed AND (r.event_id IS NULL OR r.parse_status = 'missing_body')
  WHERE c.ts >= %(start_at)s AND c.ts < %(until)s
    AND c.event_id <> ''
    AND (r.event_id IS NULL OR r.parse_status = 'missing_body')
    AND CASE
      WHEN NOT n.needed THEN r.event_id IS NULL
      WHEN b.whole THEN true
      ELSE r.event_id IS NULL AND c.ts < %(body_deadline)s
    END
  GROUP BY 1
), waiting AS (
  SELECT
    date_trunc('hour', q.ts, 'UTC') AS hour, count(*) AS turns,
    coalesce(sum(s.calls), 0) AS calls
  FROM rag_quality AS q
  LEFT JOIN LATERAL (
    SELECT
      sum(every.calls) AS calls,
      bool_or(every.status = 'claimed' AND kb_claim_is_live(every.claim_lock, every.lease_until)) AS in_flight
    FROM rag_judge_score AS every
    WHERE every.event_id = q.event_id
  ) AS s ON true
  WHERE q.judge_status IN ('pending', 'error') AND q.ts < %(until)s
    AND %(judge_on)s AND s.in_flight IS NOT TRUE
  GROUP BY 1
), stale AS (
  SELECT hour, max(touched_at) AS touched_at FROM rag_stale_hour WHERE hour < %(until)s GROUP BY 1
)
SELECT
  hour,
  coalesce(u.calls, 0) AS unexamined,
  coalesce(w.turns, 0) AS waiting,
  s.touched_at IS NOT NULL AS stale,
  md5(concat_ws('|', u.calls, u.newest, w.turns, w.calls, s.touched_at)) AS progress
FROM unexamined AS u
FULL JOIN waiting AS w USING (hour)
FULL JOIN stale AS s USING (hour)
ORDER BY hour
