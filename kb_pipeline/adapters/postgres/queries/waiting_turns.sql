-- Turns of a window that wait for a judge, oldest first, locked so that two graders take different ones.
-- A run that has lost the session with its lock finds none: its claims hold no longer. Its own turns it never finds again,
-- also where the session goes while this is worked out.
-- A score of any version settles a turn, unless it is provisional; an unusable reply counts against this version's attempts.
-- A turn whose wait after a failure lasts beyond due_at is left; without due_at none is. Probing, those come first that
-- the fewest runs failed on.
-- include turn_to_judge
WHERE t.ts >= %(window_start)s AND t.ts < %(window_end)s
  -- include may_be_judged
  AND t.event_id <> ALL (%(exclude)s)
  AND kb_claim_is_live(%(claim_lock)s, 'infinity')
  AND NOT EXISTS (
    SELECT 1 FROM rag_judge_score AS done
    WHERE done.event_id = t.event_id AND done.status = 'ok' AND NOT done.provisional)
ORDER BY CASE WHEN %(probing)s THEN coalesce(s.failed_runs, 0) END, t.ts, t.event_id
LIMIT %(limit)s
FOR UPDATE OF t SKIP LOCKED
