-- Sums over whole UTC days and the hours before and after them, for each judge version; a filter that is null takes all.
-- {grounded} and {ungrounded} add up bins of the histogram, one by one: that is ten times as fast as unnesting them.
SELECT
  judge_model, prompt_version,
  sum(turns) AS turns, sum(graded) AS graded, sum(pending) AS pending, sum(errors) AS errors, sum(failed) AS failed,
  sum(skipped) AS skipped, sum(disabled) AS disabled, sum(had_context) AS had_context, sum(refused) AS refused,
  sum(truncated) AS truncated,
  sum({grounded}) AS grounded,
  sum({ungrounded}) AS ungrounded,
  sum(judge_calls) AS judge_calls, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
  sum(faithfulness_n) AS faithfulness_n, sum(faithfulness_sum) AS faithfulness_sum,
  sum(faithfulness_sum_sq) AS faithfulness_sum_sq,
  sum(answer_relevance_n) AS answer_relevance_n, sum(answer_relevance_sum) AS answer_relevance_sum,
  sum(answer_relevance_sum_sq) AS answer_relevance_sum_sq,
  sum(context_relevance_n) AS context_relevance_n, sum(context_relevance_sum) AS context_relevance_sum,
  sum(context_relevance_sum_sq) AS context_relevance_sum_sq
FROM (
  SELECT
    judge_model, prompt_version, tenant, surface, engine, turns, graded, pending, errors, failed, skipped, disabled,
    had_context, refused, truncated, faithfulness_hist, judge_calls, prompt_tokens, completion_tokens,
    faithfulness_n, faithfulness_sum, faithfulness_sum_sq, answer_relevance_n, answer_relevance_sum,
    answer_relevance_sum_sq, context_relevance_n, context_relevance_sum, context_relevance_sum_sq
  FROM rag_quality_day
  WHERE day >= %(first_day)s AND day < %(last_day)s
  UNION ALL
  SELECT
    judge_model, prompt_version, tenant, surface, engine, turns, graded, pending, errors, failed, skipped, disabled,
    had_context, refused, truncated, faithfulness_hist, judge_calls, prompt_tokens, completion_tokens,
    faithfulness_n, faithfulness_sum, faithfulness_sum_sq, answer_relevance_n, answer_relevance_sum,
    answer_relevance_sum_sq, context_relevance_n, context_relevance_sum, context_relevance_sum_sq
  FROM rag_quality_window
  WHERE hour >= %(head_start)s AND hour < %(head_end)s
  UNION ALL
  SELECT
    judge_model, prompt_version, tenant, surface, engine, turns, graded, pending, errors, failed, skipped, disabled,
    had_context, refused, truncated, faithfulness_hist, judge_calls, prompt_tokens, completion_tokens,
    faithfulness_n, faithfulness_sum, faithfulness_sum_sq, answer_relevance_n, answer_relevance_sum,
    answer_relevance_sum_sq, context_relevance_n, context_relevance_sum, context_relevance_sum_sq
  FROM rag_quality_window
  WHERE hour >= %(tail_start)s AND hour < %(tail_end)s
) AS part
WHERE (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
  AND (%(surface)s::text IS NULL OR surface = %(surface)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
GROUP BY judge_model, prompt_version
