-- The call failed and the turn is kept for another: a new key, a fresh lease.
UPDATE rag_judge_score SET
  calls = calls + %(calls)s, attempts = attempts + %(attempts)s, idempotency_key = %(idempotency_key)s,
  lease_until = clock_timestamp() + make_interval(secs => %(lease_s)s),
  error_class = %(error_class)s, error_detail = %(error_detail)s, response_format = %(response_format)s,
  prompt_tokens = coalesce(prompt_tokens, 0) + coalesce(%(prompt_tokens)s, 0),
  completion_tokens = coalesce(completion_tokens, 0) + coalesce(%(completion_tokens)s, 0),
  latency_ms = %(latency_ms)s
WHERE event_id = %(event_id)s AND judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s
  AND status = 'claimed' AND claim_lock = %(claim_lock)s AND kb_claim_is_live(claim_lock, 'infinity')
RETURNING attempts
