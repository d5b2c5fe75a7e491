-- Every recognised turn of the window is in exactly one place.
SELECT
  (SELECT count(*) FROM rag_call
   WHERE ts >= %(window_start)s AND ts < %(window_end)s AND verdict IN ('synthesis', 'sampled_out')
     AND erased_at IS NULL),
  (SELECT count(*) FROM rag_call
   WHERE ts >= %(window_start)s AND ts < %(window_end)s AND verdict = 'sampled_out'),
  count(*) FILTER (WHERE judge_status = 'ok'),
  count(*) FILTER (WHERE judge_status IN ('error', 'failed', 'disabled')),
  count(*) FILTER (WHERE judge_status = 'skipped'),
  count(*) FILTER (WHERE judge_status = 'pending')
FROM rag_quality
WHERE ts >= %(window_start)s AND ts < %(window_end)s
