-- The windows of one hour from its events. Shadow runs are in `shadows` and in newest_event_at, in no other column.
-- The top score is the best finite one, whatever its rank: engines differ in how they break ties. Sums are over exact
-- numerics, so that the order of rows changes no digit; beyond 1e300 a sum would not be a number any more.
WITH event AS (
  SELECT
    e.org_id, e.specialist_id, e.engine, e.shadow, e.created_at, e.degraded,
    NOT e.shadow AS served,
    e.message_id IS NOT NULL AS has_message,
    e.result_count,
    CASE WHEN NOT e.shadow THEN e.latency_ms END AS latency,
    CASE WHEN NOT e.shadow THEN (
      SELECT max(CASE WHEN jsonb_typeof(hit -> 'score') = 'number' AND abs((hit ->> 'score')::numeric) <= 1e300
                      THEN (hit ->> 'score')::numeric END)
      FROM jsonb_array_elements(CASE WHEN jsonb_typeof(e.retrieved) = 'array' THEN e.retrieved END) AS hit
    ) END AS score
  FROM kb_retrieval_event AS e
  WHERE e.occurred_at >= %(window_start)s AND e.occurred_at < %(window_end)s
), binned AS (
  SELECT
    *,
    CASE WHEN score < 0 THEN 1 WHEN score > 1 THEN 22 ELSE least(floor(score * 20), 19)::int + 2 END AS score_bin,
    width_bucket(latency - 1, ARRAY[5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000]) + 1 AS latency_bin
  FROM event
), fresh AS (
  SELECT
    org_id, specialist_id, engine,
    count(*) FILTER (WHERE served) AS retrievals,
    count(*) FILTER (WHERE shadow) AS shadows,
    count(*) FILTER (WHERE served AND result_count = 0) AS empty,
    count(*) FILTER (WHERE served AND degraded) AS degraded,
    count(*) FILTER (WHERE served AND has_message) AS with_message,
    coalesce(sum(result_count) FILTER (WHERE served), 0) AS result_count_sum,
    count(score) AS top_score_n,
    coalesce(sum(score), 0)::float8 AS top_score_sum,
    array_agg(score_bin) FILTER (WHERE score IS NOT NULL) AS score_bins,
    count(latency) AS latency_n,
    coalesce(sum(latency), 0) AS latency_sum,
    array_agg(latency_bin) FILTER (WHERE latency IS NOT NULL) AS latency_bins,
    max(created_at) AS newest_event_at
  FROM binned
  GROUP BY org_id, specialist_id, engine
), gone AS (
  DELETE FROM kb_retrieval_window AS w
  WHERE w.hour = %(window_start)s
    AND NOT EXISTS (
      SELECT FROM fresh AS f WHERE (f.org_id, f.specialist_id, f.engine) = (w.org_id, w.specialist_id, w.engine))
  RETURNING 1
), changed AS (
  INSERT INTO kb_retrieval_window AS w (
    hour, org_id, specialist_id, engine, retrievals, shadows, empty, degraded, with_message, result_count_sum,
    top_score_n, top_score_sum, top_score_hist, latency_n, latency_sum, latency_hist, newest_event_at)
  SELECT
    %(window_start)s, org_id, specialist_id, engine, retrievals, shadows, empty, degraded, with_message,
    result_count_sum, top_score_n, top_score_sum,
    (SELECT array_agg((SELECT count(*) FROM unnest(score_bins) AS b WHERE b = bin)::int ORDER BY bin)
     FROM generate_series(1, 22) AS bin),
    latency_n, latency_sum,
    (SELECT array_agg((SELECT count(*) FROM unnest(latency_bins) AS b WHERE b = bin)::int ORDER BY bin)
     FROM generate_series(1, 12) AS bin),
    newest_event_at
  FROM fresh
  ON CONFLICT (hour, org_id, specialist_id, engine) DO UPDATE SET
    retrievals = excluded.retrievals, shadows = excluded.shadows, empty = excluded.empty,
    degraded = excluded.degraded, with_message = excluded.with_message,
    result_count_sum = excluded.result_count_sum, top_score_n = excluded.top_score_n,
    top_score_sum = excluded.top_score_sum, top_score_hist = excluded.top_score_hist,
    latency_n = excluded.latency_n, latency_sum = excluded.latency_sum, latency_hist = excluded.latency_hist,
    newest_event_at = excluded.newest_event_at, updated_at = now()
  WHERE (w.retrievals, w.shadows, w.empty, w.degraded, w.with_message, w.result_count_sum, w.top_score_n,
         w.top_score_sum, w.top_score_hist, w.latency_n, w.latency_sum, w.latency_hist, w.newest_event_at)
    IS DISTINCT FROM
        (excluded.retrievals, excluded.shadows, excluded.empty, excluded.degraded, excluded.with_message,
         excluded.result_count_sum, excluded.top_score_n, excluded.top_score_sum, excluded.top_score_hist,
         excluded.latency_n, excluded.latency_sum, excluded.latency_hist, excluded.newest_event_at)
  RETURNING 1
)
SELECT (SELECT count(*) FROM changed), (SELECT count(*) FROM gone)
