SELECT
  hour, tenant, surface, engine, judge_model, prompt_version,
  turns, graded, pending, errors, failed, skipped, disabled, had_context, refused, truncated,
  faithfulness_n, faithfulness_sum, faithfulness_sum_sq,
  answer_relevance_n, answer_relevance_sum, answer_relevance_sum_sq,
  context_relevance_n, context_relevance_sum, context_relevance_sum_sq,
  top_score_n, top_score_sum, context_chars_sum, answer_chars_sum,
  judge_calls, prompt_tokens, completion_tokens, judge_ms
FROM rag_quality_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s
ORDER BY hour, tenant, surface, engine, judge_model, prompt_version
