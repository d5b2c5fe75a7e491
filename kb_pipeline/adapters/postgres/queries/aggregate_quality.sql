-- Windows of one hour from its published rows: sums over exact numerics, so that the order of rows changes no digit.
WITH turn AS (
  SELECT
    q.tenant, q.surface, q.engine,
    coalesce(q.judge_model, '') AS judge_model, coalesce(q.prompt_version, '') AS prompt_version,
    q.judge_status, q.had_context, q.refused, q.answer_truncated, q.top_score, q.context_chars, q.answer_chars,
    q.faithfulness::numeric AS faithfulness, q.answer_relevance::numeric AS answer_relevance,
    q.context_relevance::numeric AS context_relevance,
    coalesce(s.calls, 0) AS calls, coalesce(s.prompt_tokens, 0) AS prompt_tokens,
    coalesce(s.completion_tokens, 0) AS completion_tokens, coalesce(s.latency_ms, 0) AS latency_ms
  FROM rag_quality AS q
  LEFT JOIN rag_judge_score AS s USING (event_id, judge_model, prompt_version)
  WHERE q.ts >= %(window_start)s AND q.ts < %(window_end)s
), bin AS (
  SELECT tenant, surface, engine, judge_model, prompt_version, aspect, floor(score * 100)::integer AS bin, count(*) AS n
  FROM turn
  CROSS JOIN LATERAL (
    VALUES ('faithfulness', faithfulness), ('answer_relevance', answer_relevance), ('context_relevance', context_relevance)
  ) AS each(aspect, score)
  WHERE score IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5, 6, 7
), histogram AS (
  SELECT
    tenant, surface, engine, judge_model, prompt_version,
    kb_dense_histogram(
      array_agg(bin) FILTER (WHERE aspect = 'faithfulness'), array_agg(n) FILTER (WHERE aspect = 'faithfulness')
    ) AS faithfulness,
    kb_dense_histogram(
      array_agg(bin) FILTER (WHERE aspect = 'answer_relevance'), array_agg(n) FILTER (WHERE aspect = 'answer_relevance')
    ) AS answer_relevance,
    kb_dense_histogram(
      array_agg(bin) FILTER (WHERE aspect = 'context_relevance'), array_agg(n) FILTER (WHERE aspect = 'context_relevance')
    ) AS context_relevance
  FROM bin
  GROUP BY 1, 2, 3, 4, 5
), fresh AS (
  SELECT
    %(window_start)s::timestamptz AS hour, tenant, surface, engine, judge_model, prompt_version,
    count(*) AS turns,
    count(*) FILTER (WHERE judge_status = 'ok') AS graded,
    count(*) FILTER (WHERE judge_status = 'pending') AS pending,
    count(*) FILTER (WHERE judge_status = 'error') AS errors,
    count(*) FILTER (WHERE judge_status = 'failed') AS failed,
    count(*) FILTER (WHERE judge_status = 'skipped') AS skipped,
    count(*) FILTER (WHERE judge_status = 'disabled') AS disabled,
    count(*) FILTER (WHERE had_context) AS had_context,
    count(*) FILTER (WHERE refused) AS refused,
    count(*) FILTER (WHERE answer_truncated) AS truncated,
    count(faithfulness) AS faithfulness_n,
    coalesce(sum(faithfulness), 0)::float8 AS faithfulness_sum,
    coalesce(sum(faithfulness * faithfulness), 0)::float8 AS faithfulness_sum_sq,
    count(answer_relevance) AS answer_relevance_n,
    coalesce(sum(answer_relevance), 0)::float8 AS answer_relevance_sum,
    coalesce(sum(answer_relevance * answer_relevance), 0)::float8 AS answer_relevance_sum_sq,
    count(context_relevance) AS context_relevance_n,
    coalesce(sum(context_relevance), 0)::float8 AS context_relevance_sum,
    coalesce(sum(context_relevance * context_relevance), 0)::float8 AS context_relevance_sum_sq,
    count(top_score) AS top_score_n,
    coalesce(sum(top_score::numeric), 0)::float8 AS top_score_sum,
    sum(context_chars) AS context_chars_sum,
    sum(answer_chars) AS answer_chars_sum,
    sum(calls) AS judge_calls,
    sum(prompt_tokens) AS prompt_tokens,
    sum(completion_tokens) AS completion_tokens,
    sum(latency_ms) AS judge_ms
  FROM turn
  GROUP BY tenant, surface, engine, judge_model, prompt_version
), gone AS (
  DELETE FROM rag_quality_window AS w
  WHERE w.hour = %(window_start)s
    AND NOT EXISTS (
      SELECT 1 FROM fresh AS f
      WHERE (f.tenant, f.surface, f.engine, f.judge_model, f.prompt_version)
          = (w.tenant, w.surface, w.engine, w.judge_model, w.prompt_version))
)
INSERT INTO rag_quality_window AS w (
  hour, tenant, surface, engine, judge_model, prompt_version,
  turns, graded, pending, errors, failed, skipped, disabled, had_context, refused, truncated,
  faithfulness_n, faithfulness_sum, faithfulness_sum_sq, faithfulness_hist,
  answer_relevance_n, answer_relevance_sum, answer_relevance_sum_sq, answer_relevance_hist,
  context_relevance_n, context_relevance_sum, context_relevance_sum_sq, context_relevance_hist,
  top_score_n, top_score_sum, context_chars_sum, answer_chars_sum,
  judge_calls, prompt_tokens, completion_tokens, judge_ms)
SELECT
  f.hour, f.tenant, f.surface, f.engine, f.judge_model, f.prompt_version,
  f.turns, f.graded, f.pending, f.errors, f.failed, f.skipped, f.disabled, f.had_context, f.refused, f.truncated,
  f.faithfulness_n, f.faithfulness_sum, f.faithfulness_sum_sq,
  coalesce(h.faithfulness, kb_dense_histogram('{}', '{}')),
  f.answer_relevance_n, f.answer_relevance_sum, f.answer_relevance_sum_sq,
  coalesce(h.answer_relevance, kb_dense_histogram('{}', '{}')),
  f.context_relevance_n, f.context_relevance_sum, f.context_relevance_sum_sq,
  coalesce(h.context_relevance, kb_dense_histogram('{}', '{}')),
  f.top_score_n, f.top_score_sum, f.context_chars_sum, f.answer_chars_sum,
  f.judge_calls, f.prompt_tokens, f.completion_tokens, f.judge_ms
FROM fresh AS f
LEFT JOIN histogram AS h USING (tenant, surface, engine, judge_model, prompt_version)
ON CONFLICT (hour, tenant, surface, engine, judge_model, prompt_version) DO UPDATE SET
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
WHERE w.* IS DISTINCT FROM excluded.*
