-- Turns that wait for the judge in an hour, as waiting_turns.sql finds them, the calls that they will about take, and the
-- characters that these would carry; those too, without due_at, whose wait after a failure lasts.
SELECT count(*), coalesce(sum(size.calls), 0), coalesce(sum(least(size.chars, size.calls * %(judge_chars)s::bigint)), 0)
FROM rag_triad AS t
JOIN rag_metric AS m USING (event_id)
CROSS JOIN LATERAL (
  SELECT
    turn.chars, kb_judge_calls(turn.chars, m.answer_chars, %(judge_chars)s) AS calls
  FROM (SELECT m.context_chars + m.answer_chars + coalesce(char_length(t.question), 0) AS chars) AS turn
) AS size
LEFT JOIN rag_judge_score AS s
  ON s.event_id = t.event_id AND s.judge_model = %(judge_model)s AND s.prompt_version = %(prompt_version)s
WHERE t.ts >= %(window_start)s AND t.ts < %(window_end)s
  -- include may_be_judged
  AND NOT EXISTS (
    SELECT 1 FROM rag_judge_score AS done
    WHERE done.event_id = t.event_id AND done.status = 'ok' AND NOT done.provisional)
