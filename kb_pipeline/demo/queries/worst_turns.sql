SELECT event_id, ts, faithfulness, answer_relevance
FROM rag_quality
WHERE ts >= %(window_start)s AND ts < %(window_end)s AND faithfulness IS NOT NULL
ORDER BY faithfulness, answer_relevance NULLS LAST, ts
LIMIT 3
