-- Graded turns of the window whose draft an expert has decided on, with the question where it has not expired.
-- Of a trace with several turns or drafts the newest ones belong together; one that two tenants share is nobody's.
WITH turn AS (
  SELECT DISTINCT ON (trace_id) trace_id, event_id, surface, judge_model, prompt_version, faithfulness
  FROM rag_quality
  WHERE ts >= %(window_start)s AND ts < %(window_end)s AND trace_id <> ''
  ORDER BY trace_id, ts DESC, event_id
), draft AS (
  SELECT DISTINCT ON (trace_id) trace_id, conversation_id, outcome
  FROM kb_draft_outcome AS decided
  WHERE trace_id IN (SELECT trace_id FROM turn)
    AND NOT EXISTS (
      SELECT FROM kb_draft_outcome AS other
      WHERE other.trace_id = decided.trace_id
        AND (other.org_id, other.specialist_id) <> (decided.org_id, decided.specialist_id))
  ORDER BY trace_id, drafted_at DESC, message_id
)
SELECT
  turn.judge_model, turn.prompt_version, turn.surface, turn.faithfulness AS score, draft.outcome,
  draft.conversation_id::text AS conversation, triad.question
FROM turn
JOIN draft USING (trace_id)
LEFT JOIN rag_triad AS triad USING (event_id)
WHERE turn.faithfulness IS NOT NULL AND draft.outcome = ANY(%(outcomes)s)
