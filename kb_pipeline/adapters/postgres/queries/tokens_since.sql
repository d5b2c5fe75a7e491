-- A turn that was called before the instant too counts whole: the budget is kept rather than stretched.
SELECT coalesce(sum(coalesce(prompt_tokens, 0)::bigint + coalesce(completion_tokens, 0)), 0)
FROM rag_judge_score
WHERE judged_at >= %(instant)s
