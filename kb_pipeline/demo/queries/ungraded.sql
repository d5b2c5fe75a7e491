SELECT
  CASE judge_status
    WHEN 'skipped' THEN skip_reason
    WHEN 'error' THEN 'judge_error'
    WHEN 'failed' THEN 'judge_error'
    ELSE judge_status
  END AS reason,
  count(*)
FROM rag_quality
WHERE ts >= %(window_start)s AND ts < %(window_end)s AND judge_status <> 'ok'
GROUP BY reason
ORDER BY reason
