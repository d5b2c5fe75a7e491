-- Published turns of a window, the newest first, after a place in that order if one is given; previews, no text.
-- They come from the table, or where few turns pass the filter from the hours of these (turns_of_hours.sql).
SELECT
  q.event_id, q.ts, q.tenant, q.surface, q.engine, q.question_preview,
  q.faithfulness, q.answer_relevance, q.context_relevance,
  left(q.faithfulness_reason, 1000) AS faithfulness_reason, left(q.answer_relevance_reason, 1000) AS answer_relevance_reason,
  left(q.context_relevance_reason, 1000) AS context_relevance_reason,
  q.support_score, q.disagreement, m.opinion, q.judge_model, q.prompt_version, q.parse_status,
  q.judge_status, q.skip_reason
FROM (
  SELECT * FROM {turns}
  WHERE ts >= %(window_start)s AND ts < %(window_end)s
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
  AND (%(surface)s::text IS NULL OR surface = %(surface)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
    AND (%(after_ts)s::timestamptz IS NULL OR ts < %(after_ts)s OR (ts = %(after_ts)s AND event_id > %(after_id)s))
  ORDER BY ts DESC, event_id
  LIMIT %(limit)s
) AS q
LEFT JOIN rag_metric AS m USING (event_id)
ORDER BY q.ts DESC, q.event_id
