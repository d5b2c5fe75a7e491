SELECT
  judge_model, prompt_version, status, provisional, calls, attempts, idempotency_key,
  faithfulness, faithfulness_reason, answer_relevance, answer_relevance_reason,
  context_relevance, context_relevance_reason, parts, context_shown, history_left_out, skip_reason, error_class, error_detail, response_format,
  prompt_tokens, completion_tokens, latency_ms, claimed_at, judged_at
FROM rag_judge_score
WHERE event_id = %(event_id)s
ORDER BY claimed_at
