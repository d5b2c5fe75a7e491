-- The UTC day that holds the hour, as the sum of its hours.
WITH hours AS (
  SELECT * FROM rag_quality_window
  WHERE hour >= date_trunc('day', %(window_start)s::timestamptz, 'UTC')
    AND hour < date_trunc('day', %(window_start)s::timestamptz, 'UTC') + interval '24 hours'
), histogram AS (
  SELECT
    tenant, surface, engine, judge_model, prompt_version,
    array_agg(f ORDER BY i) AS faithfulness, array_agg(a ORDER BY i) AS answer_relevance,
    array_agg(c ORDER BY i) AS context_relevance
  FROM (
    SELECT
      tenant, surface, engine, judge_model, prompt_version, i,
      sum(f)::integer AS f, sum(a)::integer AS a, sum(c)::integer AS c
    FROM hours
    CROSS JOIN LATERAL unnest(faithfulness_hist, answer_relevance_hist, context_relevance_hist)
      WITH ORDINALITY AS bins(f, a, c, i)
    GROUP BY 1, 2, 3, 4, 5, 6
  ) AS bin
  GROUP BY 1, 2, 3, 4, 5
), fresh AS (
  SELECT
    (%(window_start)s::timestamptz AT TIME ZONE 'UTC')::date AS day,
    tenant, surface, engine, judge_model, prompt_version,
    sum(turns) AS turns, sum(graded) AS graded, sum(pending) AS pending, sum(errors) AS errors, sum(failed) AS failed,
    sum(skipped) AS skipped, sum(disabled) AS disabled, sum(had_context) AS had_context, sum(refused) AS refused,
    sum(truncated) AS truncated,
    sum(faithfulness_n) AS faithfulness_n,
    sum(faithfulness_sum::numeric)::float8 AS faithfulness_sum,
    sum(faithfulness_sum_sq::numeric)::float8 AS faithfulness_sum_sq,
    sum(answer_relevance_n) AS answer_relevance_n,
    sum(answer_relevance_sum::numeric)::float8 AS answer_relevance_sum,
    sum(answer_relevance_sum_sq::numeric)::float8 AS answer_relevance_sum_sq,
    sum(context_relevance_n) AS context_relevance_n,
    sum(context_relevance_sum::numeric)::float8 AS context_relevance_sum,
    sum(context_relevance_sum_sq::numeric)::float8 AS context_relevance_sum_sq,
    sum(top_score_n) AS top_score_n,
    sum(top_score_sum::numeric)::float8 AS top_score_sum,
    sum(context_chars_sum) AS context_chars_sum, sum(answer_chars_sum) AS answer_chars_sum,
    sum(judge_calls) AS judge_calls, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
    sum(judge_ms) AS judge_ms
  FROM hours
  GROUP BY tenant, surface, engine, judge_model, prompt_version
), gone AS (
  DELETE FROM rag_quality_day AS d
  WHERE d.day = (%(window_start)s::timestamptz AT TIME ZONE 'UTC')::date
    AND NOT EXISTS (
      SELECT 1 FROM fresh AS f
      WHERE (f.tenant, f.surface, f.engine, f.judge_model, f.prompt_version)
          = (d.tenant, d.surface, d.engine, d.judge_model, d.prompt_version))
)
INSERT INTO rag_quality_day AS d (
  day, tenant, surface, engine, judge_model, prompt_version,
  turns, graded, pending, errors, failed, skipped, disabled, had_context, refused, truncated,
  faithfulness_n, faithfulness_sum, faithfulness_sum_sq, faithfulness_hist,
  answer_relevance_n, answer_relevance_sum, answer_relevance_sum_sq, answer_relevance_hist,
  context_relevance_n, context_relevance_sum, context_relevance_sum_sq, context_relevance_hist,
  top_score_n, top_score_sum, context_chars_sum, answer_chars_sum,
  judge_calls, prompt_tokens, completion_tokens, judge_ms)
SELECT
  f.day, f.tenant, f.surface, f.engine, f.judge_model, f.prompt_version,
  f.turns, f.graded, f.pending, f.errors, f.failed, f.skipped, f.disabled, f.had_context, f.refused, f.truncated,
  f.faithfulness_n, f.faithfulness_sum, f.faithfulness_sum_sq, h.faithfulness,
  f.answer_relevance_n, f.answer_relevance_sum, f.answer_relevance_sum_sq, h.answer_relevance,
  f.context_relevance_n, f.context_relevance_sum, f.context_relevance_sum_sq, h.context_relevance,
  f.top_score_n, f.top_score_sum, f.context_chars_sum, f.answer_chars_sum,
  f.judge_calls, f.prompt_tokens, f.completion_tokens, f.judge_ms
FROM fresh AS f
JOIN histogram AS h USING (tenant, surface, engine, judge_model, prompt_version)
ON CONFLICT (day, tenant, surface, engine, judge_model, prompt_version) DO UPDATE SET
  turns = excluded.turns, graded = excluded.graded, pending = excluded.pending, errors = excluded.errors,
  failed = excluded.failed, skipped = excluded.skipped, disabled = excluded.disabled,
  had_context = excluded.had_context, refused = excluded.refused, truncated = excluded.truncated,
  faithfulness_n = excluded.faithfulness_n, faithfulness_sum = excluded.faithfulness_sum,
  faithfulness_sum_sq = excluded.faithfulness_sum_sq, faithfulness_hist = excluded.faithfulness_hist,
  answer_relevance_n = excluded.answer_relevance_n, answer_relevance_sum = excluded.answer_relevance_sum,
  answer_relevance_sum_sq = excluded.answer_relevance_sum_sq, answer_relevance_hist = excluded.answer_relevance_hist,
  context_relevance_n = excluded.context_relevance_n, context_relevance_sum = excluded.context_relevance_sum,
  context_relevance_sum_sq = excluded.context_relevance_sum_sq, context_relevance_hist = excluded.context_relevance_hist,
  top_score_n = excluded.top_score_n, top_score_sum = excluded.top_score_sum,
  context_chars_sum = excluded.context_chars_sum, answer_chars_sum = excluded.answer_chars_sum,
  judge_calls = excluded.judge_calls, prompt_tokens = excluded.prompt_tokens,
  completion_tokens = excluded.completion_tokens, judge_ms = excluded.judge_ms
WHERE d.* IS DISTINCT FROM excluded.*
