-- Whether each of the last turns that the judge was called for got scores, the newest first.
SELECT status = 'ok'
FROM rag_judge_score
WHERE judged_at >= %(since)s AND judged_at <= %(now)s AND status IN ('ok', 'error', 'failed')
  AND judge_model = %(judge_model)s AND prompt_version = %(prompt_version)s
ORDER BY judged_at DESC
LIMIT %(limit)s
