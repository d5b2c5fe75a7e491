-- Scores beside their planted labels, for turns that have both.
SELECT t.faithful, q.faithfulness, t.relevant, q.answer_relevance
FROM upstream.planted_truth AS t
JOIN rag_quality AS q ON q.event_id = t.event_id AND q.ts = t.ts
WHERE t.ts >= %(window_start)s AND t.ts < %(window_end)s AND q.judge_status = 'ok'
  AND ((t.faithful IS NOT NULL AND q.faithfulness IS NOT NULL) OR (t.relevant IS NOT NULL AND q.answer_relevance IS NOT NULL))
