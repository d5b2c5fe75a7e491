-- What the judge cost, by hour or day of the turns and by judge version, over every call for them.
SELECT
  date_trunc(%(grain)s, ts, 'UTC'), judge_model, prompt_version,
  count(*) FILTER (WHERE calls > 0),
  count(*) FILTER (WHERE status = 'ok'),
  sum(calls),
  sum(coalesce(prompt_tokens, 0)::bigint),
  sum(coalesce(completion_tokens, 0)::bigint),
  sum(coalesce(latency_ms, 0)::bigint)
FROM rag_judge_score
WHERE ts >= %(window_start)s AND ts < %(window_end)s
GROUP BY 1, 2, 3
HAVING sum(calls) > 0
ORDER BY 1, 2, 3
