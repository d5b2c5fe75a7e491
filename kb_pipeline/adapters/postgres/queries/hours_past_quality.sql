-- Hours with turns past quality_days.
SELECT DISTINCT date_trunc('hour', ts, 'UTC') AS hour
FROM rag_call
WHERE ts < %(instant)s AND verdict = 'synthesis' AND erased_at IS NULL
ORDER BY 1
