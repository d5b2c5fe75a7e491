-- Of the turns named, those that may be judged by this version beside the score of another, locked as waiting_turns.sql
-- locks. What has changed since they were named is seen here: their text may have expired, or somebody judges them.
-- include turn_to_judge
WHERE t.event_id = ANY (%(event_ids)s)
  -- include may_be_judged
  AND t.event_id <> ALL (%(exclude)s)
  AND kb_claim_is_live(%(claim_lock)s, 'infinity')
  AND EXISTS (
    SELECT 1 FROM rag_judge_score AS done
    WHERE done.event_id = t.event_id AND done.status = 'ok' AND NOT done.provisional
      AND (done.judge_model, done.prompt_version) <> (%(judge_model)s, %(prompt_version)s))
ORDER BY t.ts, t.event_id
LIMIT %(limit)s
FOR UPDATE OF t SKIP LOCKED
