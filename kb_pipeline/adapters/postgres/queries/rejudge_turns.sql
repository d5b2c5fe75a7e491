-- Of the turns named, those that may be judged by this version beside the score of another, locked as waiting_turns.sql
-- locks. What has changed since they were named is seen here: their text may have expired, or somebody judges them.
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
WHERE t.event_id = ANY (%(event_ids)s)
  AND t.parse_status = ANY (%(judged_statuses)s)
  AND t.text_expired_at IS NULL
  AND kb_is_judgeable(m.context_chars, m.answer_chars)
  AND t.event_id <> ALL (%(exclude)s)
  AND kb_claim_is_live(%(claim_lock)s, 'infinity')
  AND (s.event_id IS NULL
       OR s.status IN ('error', 'outdated')
       OR (s.status = 'claimed' AND s.claim_lock <> %(claim_lock)s
           AND NOT kb_claim_is_live(s.claim_lock, s.lease_until)))
  AND EXISTS (
    SELECT 1 FROM rag_judge_score AS done
    WHERE done.event_id = t.event_id AND done.status = 'ok' AND NOT done.provisional
      AND (done.judge_model, done.prompt_version) <> (%(judge_model)s, %(prompt_version)s))
ORDER BY t.ts, t.event_id
LIMIT %(limit)s
FOR UPDATE OF t SKIP LOCKED
