-- Hours of the window that hold a published row of another version though the configured one has a score of the turn.
SELECT DISTINCT date_trunc('hour', s.ts, 'UTC')
FROM rag_judge_score AS s
JOIN rag_quality AS q ON q.event_id = s.event_id AND q.ts = s.ts
WHERE s.ts >= %(window_start)s AND s.ts < %(window_end)s AND q.ts >= %(window_start)s AND q.ts < %(window_end)s
  AND s.status = 'ok' AND s.judge_model = %(judge_model)s AND s.prompt_version = %(prompt_version)s
  AND (q.judge_model, q.prompt_version) IS DISTINCT FROM (s.judge_model, s.prompt_version)
ORDER BY 1
