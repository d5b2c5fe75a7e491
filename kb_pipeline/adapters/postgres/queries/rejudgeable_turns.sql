-- The next turns of a window, in the order of their time, that another version scored, and where each stands with this
-- one: done (scored by it too), failed (attempts used up), held (somebody judges it), no_text (expired, or not readable
-- any more), too_long (for the judge), else open; with the characters that its calls would carry.
SELECT
  t.ts, t.event_id,
  CASE
    WHEN s.status = 'ok' THEN 'done'
    WHEN s.status = 'failed' THEN 'failed'
    WHEN s.status = 'claimed' AND kb_claim_is_live(s.claim_lock, s.lease_until) THEN 'held'
    WHEN t.text_expired_at IS NOT NULL OR t.parse_status <> ALL (%(judged_statuses)s) THEN 'no_text'
    WHEN s.status = 'skipped' OR NOT kb_is_judgeable(m.context_chars, m.answer_chars) THEN 'too_long'
    ELSE 'open'
  END,
  least(turn.chars, kb_judge_calls(turn.chars, m.answer_chars, %(judge_chars)s) * %(judge_chars)s::bigint)
FROM rag_triad AS t
JOIN rag_metric AS m USING (event_id)
CROSS JOIN LATERAL (
  SELECT m.context_chars + m.answer_chars + coalesce(char_length(t.question), 0) AS chars
) AS turn
LEFT JOIN rag_judge_score AS s
  ON s.event_id = t.event_id AND s.judge_model = %(judge_model)s AND s.prompt_version = %(prompt_version)s
WHERE t.ts >= %(after_ts)s AND t.ts < %(window_end)s AND (t.ts, t.event_id) > (%(after_ts)s, %(after_id)s)
  AND EXISTS (
    SELECT 1 FROM rag_judge_score AS done
    WHERE done.event_id = t.event_id AND done.status = 'ok' AND NOT done.provisional
      AND (done.judge_model, done.prompt_version) <> (%(judge_model)s, %(prompt_version)s))
ORDER BY t.ts, t.event_id
LIMIT %(chunk)s
