-- Compare and set: only a claim that is still ours is settled, so a late reply never overwrites a newer one.
UPDATE rag_judge_score SET
  status = %(status)s, lease_until = NULL, calls = calls + %(calls)s, attempts = attempts + %(attempts)s,
  failed_runs = %(failed_runs)s, retry_at = %(retry_at)s,
  faithfulness = %(faithfulness)s, answer_relevance = %(answer_relevance)s, context_relevance = %(context_relevance)s,
  faithfulness_reason = %(faithfulness_reason)s, answer_relevance_reason = %(answer_relevance_reason)s,
  context_relevance_reason = %(context_relevance_reason)s,
  parts = %(parts)s, context_shown = %(context_shown)s, history_left_out = %(history_left_out)s,
  error_class = %(error_class)s, error_detail = %(error_detail)s, response_format = %(response_format)s,
  prompt_tokens = coalesce(prompt_tokens, 0) + coalesce(%(prompt_tokens)s, 0),
  completion_tokens = coalesce(completion_tokens, 0) + coalesce(%(completion_tokens)s, 0),
  latency_ms = %(latency_ms)s, judged_at = %(now)s
WHERE event_id = %(event_id)s AND judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s
  AND status = 'claimed' AND claim_lock = %(claim_lock)s
