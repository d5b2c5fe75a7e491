-- Turns of a window: all, those that the markers did not fit, those that can be judged, and of these those graded and
-- those that wait for a call.
SELECT
  count(*),
  count(*) FILTER (WHERE parse_status IN ('no_question', 'context_fallback', 'truncated_prompt')),
  count(*) FILTER (WHERE judge_status <> 'skipped'),
  count(*) FILTER (WHERE judge_status = 'ok'),
  count(*) FILTER (WHERE judge_status = 'pending')
FROM rag_quality
WHERE ts >= %(window_start)s AND ts < %(window_end)s
