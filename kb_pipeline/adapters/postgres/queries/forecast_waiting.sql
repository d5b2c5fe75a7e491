-- Turns that wait for the judge in an hour, and the characters that their calls would carry.
SELECT count(*), coalesce(sum(m.context_chars + m.answer_chars + coalesce(char_length(t.question), 0)), 0)
FROM rag_quality AS q
JOIN rag_metric AS m USING (event_id)
JOIN rag_triad AS t USING (event_id)
WHERE q.ts >= %(window_start)s AND q.ts < %(window_end)s AND q.judge_status IN ('pending', 'error')
