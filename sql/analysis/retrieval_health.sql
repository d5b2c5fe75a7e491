-- A, retrieval health: how often retrieval finds nothing, how well its best result scores, how long it takes.
--
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file retrieval_health.sql
--        [--set since=2026-07-01] [--set until=2026-08-01]
--        [--set org=UUID] [--set specialist=UUID]
--
-- Any role that reads our tables may run it (kb_api_reader); it reads no words. Shadow runs served nobody and are left
-- out. Scores are of the engine's own scale: compare an engine with itself, never with another.

\if :{?since} \else \set since -infinity
\endif
\if :{?until} \else \set until infinity
\endif
\if :{?org} \else \set org ''
\endif
\if :{?specialist} \else \set specialist ''
\endif

\echo 'Retrievals per tenant and engine'
SELECT
  org_id,
  specialist_id,
  engine,
  count(*)                                                                               AS retrievals,
  count(*) FILTER (WHERE result_count = 0)                                               AS empty,
  round((count(*) FILTER (WHERE result_count = 0))::numeric / count(*), 4)               AS empty_share,
  count(*) FILTER (WHERE degraded)                                                       AS degraded,
  count(*) FILTER (WHERE message_id IS NULL)                                             AS without_draft,
  round(percentile_cont(0.5) WITHIN GROUP (ORDER BY (retrieved -> 0 ->> 'score')::float8)::numeric, 3) AS top_score_p50,
  round(percentile_cont(0.1) WITHIN GROUP (ORDER BY (retrieved -> 0 ->> 'score')::float8)::numeric, 3) AS top_score_p10,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY latency_ms)                                AS latency_p50_ms,
  percentile_disc(0.95) WITHIN GROUP (ORDER BY latency_ms)                               AS latency_p95_ms
FROM kb_retrieval_event
WHERE NOT shadow
  AND occurred_at >= :'since' AND occurred_at < :'until'
  AND (:'org' = '' OR org_id = nullif(:'org', '')::uuid)
  AND (:'specialist' = '' OR specialist_id = nullif(:'specialist', '')::uuid)
GROUP BY org_id, specialist_id, engine
ORDER BY org_id, specialist_id, engine;

\echo 'Best scores by engine and tenths'
SELECT
  engine,
  CASE
    WHEN top_score IS NULL THEN 'none'
    WHEN top_score < 0 THEN 'below 0'
    WHEN top_score > 1 THEN 'above 1'
    ELSE to_char(least(floor(top_score * 10), 9) / 10, 'FM0.0') || ' to ' || to_char(least(floor(top_score * 10), 9) / 10 + 0.1, 'FM0.0')
  END AS best_score,
  count(*) AS retrievals
FROM (
  SELECT engine, (retrieved -> 0 ->> 'score')::float8 AS top_score
  FROM kb_retrieval_event
  WHERE NOT shadow
    AND occurred_at >= :'since' AND occurred_at < :'until'
    AND (:'org' = '' OR org_id = nullif(:'org', '')::uuid)
    AND (:'specialist' = '' OR specialist_id = nullif(:'specialist', '')::uuid)
) AS scored
GROUP BY engine, best_score
ORDER BY engine, min(top_score) NULLS FIRST;
