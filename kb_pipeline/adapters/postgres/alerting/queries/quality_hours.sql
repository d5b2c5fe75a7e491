-- What alert rules need of the graded hours, per tenant, surface and engine. Scores of one judge version alone: two
-- versions are never averaged together. Scores below the floor are the first bins of the histogram, a hundredth each.
SELECT
  hour, tenant, surface, engine,
  sum(turns)::integer AS turns,
  coalesce(sum(graded) FILTER (WHERE is_current), 0)::integer AS graded,
  coalesce(sum(graded + pending + errors + failed) FILTER (WHERE is_current), 0)::integer AS judgeable,
  coalesce(sum(faithfulness_n) FILTER (WHERE is_current), 0)::integer AS scored,
  coalesce(sum(faithfulness_sum) FILTER (WHERE is_current), 0) AS score_sum,
  coalesce(sum(low.n) FILTER (WHERE is_current), 0)::integer AS below_floor
FROM rag_quality_window AS w
CROSS JOIN LATERAL (
  SELECT (w.judge_model, w.prompt_version) = (%(judge_model)s, %(prompt_version)s) AS is_current
) AS version
CROSS JOIN LATERAL (
  SELECT coalesce(sum(each.n), 0) AS n FROM unnest(w.faithfulness_hist[1:%(floor_bins)s]) AS each(n)
) AS low
WHERE hour >= %(window_start)s AND hour < %(window_end)s AND surface = ANY (%(surfaces)s)
GROUP BY hour, tenant, surface, engine
