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
  AND t.parse_status = ANY (%(judged_statuses)s)
  AND t.text_expired_at IS NULL
  AND kb_is_judgeable(m.context_chars, m.answer_chars)
  AND (s.event_id IS NULL
       OR s.status = 'outdated'
       OR (s.status = 'error' AND (s.retry_at > %(due_at)s::timestamptz) IS NOT TRUE)
       OR (s.status = 'claimed' AND NOT kb_claim_is_live(s.claim_lock, s.lease_until)))
  AND NOT EXISTS (
    SELECT 1 FROM rag_judge_score AS done
    WHERE done.event_id = t.event_id AND done.status = 'ok' AND NOT done.provisional)
