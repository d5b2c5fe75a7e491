-- What turns have cost a judge version that told its tokens, with every call that was made for them.
SELECT count(*), coalesce(sum(prompt_tokens::bigint + coalesce(completion_tokens, 0)), 0)
FROM rag_judge_score
WHERE judge_model = %(judge_model)s
  AND prompt_version = %(prompt_version)s
  AND judged_at >= %(instant)s
  AND status = 'ok'
  AND prompt_tokens > 0
