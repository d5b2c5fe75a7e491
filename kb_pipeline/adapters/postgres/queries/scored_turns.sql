-- What the hours' own judge did: a judge that is tried beside it says nothing of it.
SELECT
  count(*) FILTER (WHERE status = 'ok'),
  count(*) FILTER (WHERE status IN ('error', 'failed'))
FROM rag_judge_score
WHERE ts >= %(window_start)s AND ts < %(window_end)s AND NOT provisional
