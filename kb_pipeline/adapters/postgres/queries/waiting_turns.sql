-- Turns of a window that wait for a judge, oldest first, locked so that two graders take different ones.
-- A run that has lost the session with its lock finds none: its claims hold no longer. Its own turns it never finds again,
-- also where the session goes while this is worked out.
-- A score of any version settles a turn, unless it is provisional; an unusable reply counts against this version's attempts.
-- A turn whose wait after a failure lasts beyond due_at is left; without due_at none is. Probing, those come first that
-- the fewest runs failed on.
SELECT
  t.event_id, t.ts, t.parse_status, t.question, t.context, t.passages, t.history, t.answer, t.finish_reason,
  m.had_context, m.num_passages, m.top_score, m.mean_score, m.context_chars, m.answer_chars, m.refused, m.answer_truncated,
  coalesce(s.attempts, 0),
  (SELECT coalesce(sum(every.calls), 0)::integer FROM rag_judge_score AS every WHERE every.event_id = t.event_id),
  CASE WHEN s.status = 'claimed' THEN s.idempotency_key END,
  coalesce(s.failed_runs, 0)
FROM rag_triad AS t
JOIN rag_metric AS m USING (event_id)
LEFT JOIN rag_judge_score AS s
  ON s.event_id = t.event_id AND s.judge_model = %(judge_model)s AND s.prompt_version = %(prompt_version)s
WHERE t.ts >= %(window_start)s AND t.ts < %(window_end)s
  AND t.parse_status = ANY (%(judged_statuses)s)
  AND t.text_expired_at IS NULL
  AND kb_is_judgeable(m.context_chars, m.answer_chars)
  AND t.event_id <> ALL (%(exclude)s)
  AND kb_claim_is_live(%(claim_lock)s, 'infinity')
  AND (s.event_id IS NULL
       OR s.status = 'outdated'
       OR (s.status = 'error' AND (s.retry_at > %(due_at)s::timestamptz) IS NOT TRUE)
       OR (s.status = 'claimed' AND s.claim_lock <> %(claim_lock)s
           AND NOT kb_claim_is_live(s.claim_lock, s.lease_until)))
  AND NOT EXISTS (
    SELECT 1 FROM rag_judge_score AS done
    WHERE done.event_id = t.event_id AND done.status = 'ok' AND NOT done.provisional)
ORDER BY CASE WHEN %(probing)s THEN coalesce(s.failed_runs, 0) END, t.ts, t.event_id
LIMIT %(limit)s
FOR UPDATE OF t SKIP LOCKED
