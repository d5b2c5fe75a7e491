-- Hours that hold work, with a token that changes when any of it makes progress. Turns whose wait after a failure lasts
-- beyond due_at are none.
WITH unexamined AS (
  SELECT date_trunc('hour', c.ts, 'UTC') AS hour, count(*) AS calls, max(c.ts) AS newest
  FROM kb_source.ai_call AS c
  CROSS JOIN LATERAL (
    SELECT coalesce(c.surface, '') = ANY (%(surfaces)s) AND coalesce(c.tenant, '') <> %(pipeline_tenant)s AS needed
  ) AS n
  LEFT JOIN rag_call AS r ON r.event_id = c.event_id
  CROSS JOIN LATERAL (
    SELECT
      r.event_id IS NULL AS is_new,
      n.needed AND r.erased_at IS NULL AND r.parse_status = 'missing_body' AS lacked_body,
      %(reread)s AND n.needed AND r.erased_at IS NULL
        AND r.template IS DISTINCT FROM (%(templates)s::jsonb ->> c.surface)
        AND (r.verdict IN ('other', 'sampled_out') OR r.parse_status IN ('context_fallback', 'no_question'))
        AND NOT EXISTS (SELECT FROM rag_triad AS t WHERE t.event_id = c.event_id AND t.text_expired_at IS NOT NULL)
        AS is_outdated
  ) AS l
  LEFT JOIN LATERAL (
    SELECT bool_or(b.request_body IS NOT NULL AND b.response_body IS NOT NULL) AS whole
    FROM kb_source.ai_call_body AS b
    WHERE b.event_id = c.event_id
  ) AS b ON n.needed
  WHERE c.ts >= %(unexamined_from)s AND c.ts < %(until)s
    AND c.event_id <> '' AND octet_length(c.event_id) <= 1000
    AND (l.is_new OR l.lacked_body OR l.is_outdated)
    AND (b.whole OR (l.is_new AND (NOT n.needed OR c.ts < %(body_deadline)s)))
  GROUP BY 1
), open AS (
  SELECT
    date_trunc('hour', q.ts, 'UTC') AS hour, count(*) AS turns,
    count(*) FILTER (WHERE q.judge_status = 'disabled') AS disabled,
    coalesce(sum(s.calls), 0) AS calls
  FROM rag_quality AS q
  LEFT JOIN LATERAL (
    SELECT
      sum(every.calls) AS calls,
      bool_or(every.status = 'claimed' AND kb_claim_is_live(every.claim_lock, every.lease_until)) AS in_flight,
      bool_or(every.judge_model = %(judge_model)s AND every.prompt_version = %(prompt_version)s
              AND every.status = 'error' AND every.retry_at > %(due_at)s::timestamptz) AS is_held
    FROM rag_judge_score AS every
    WHERE every.event_id = q.event_id
  ) AS s ON true
  WHERE q.judge_status IN ('pending', 'error', 'disabled') AND q.ts < %(until)s
    -- What was measured while the judge was off waits for it from the activation on; without a judge nothing waits.
    AND CASE WHEN %(judge_on)s THEN q.judge_status <> 'disabled' OR q.ts >= %(start_at)s
             ELSE q.judge_status <> 'disabled' END
    AND (%(may_judge)s OR NOT %(judge_on)s)
    AND s.in_flight IS NOT TRUE
    AND s.is_held IS NOT TRUE
  GROUP BY 1
), stale AS (
  SELECT hour, max(touched_at) AS touched_at
  FROM (
    SELECT hour, touched_at FROM rag_stale_hour WHERE hour < %(until)s
    UNION ALL
    -- Read anew are also the texts whose second opinion is by other rules.
    SELECT date_trunc('hour', m.ts, 'UTC'), max(m.created_at)
    FROM rag_metric AS m
    JOIN rag_triad AS t USING (event_id)
    WHERE %(reread)s AND m.ts >= %(unexamined_from)s AND m.ts < %(until)s
      AND m.opinion_version IS DISTINCT FROM %(opinion_version)s AND t.text_expired_at IS NULL
    GROUP BY 1
  ) AS lagging
  GROUP BY 1
)
SELECT
  hour,
  coalesce(u.calls, 0) AS unexamined,
  CASE WHEN %(judge_on)s THEN coalesce(o.turns, 0) ELSE 0 END AS waiting,
  s.touched_at IS NOT NULL OR (o.turns > 0 AND NOT %(judge_on)s) AS stale,
  md5(concat_ws('|', u.calls, u.newest, o.turns, o.disabled, o.calls, s.touched_at)) AS progress
FROM unexamined AS u
FULL JOIN open AS o USING (hour)
FULL JOIN stale AS s USING (hour)
ORDER BY hour
