-- select_drafts
-- The end of a statement that reviewed_drafts.sql begins: the drafts of the window (all without one), only those whose
-- outcome is missing or of another state or other rules (lagging), or those with a decision and an event (decided).
SELECT
  r.message_id, r.org_id, r.specialist_id, r.conversation_id, r.trace_id, r.drafted_at, r.draft, r.status,
  r.rejection_reason, r.opened_at, r.decided_at, r.correction_id, r.final, r.cited, r.later_queries, r.source_state,
  o.source_state,
  r.event_id, r.event_conversation_id, r.engine, r.query, r.top_k, r.result_count, r.latency_ms, r.retrieved,
  r.occurred_at, r.query_rewritten, r.candidate_pool, r.kb_version, r.degraded, r.event_trace_id
FROM reviewed AS r
LEFT JOIN kb_draft_outcome AS o ON o.message_id = r.message_id
WHERE (%(window_start)s::timestamptz IS NULL
       OR (coalesce(r.decided_at, r.drafted_at) >= %(window_start)s
           AND coalesce(r.decided_at, r.drafted_at) < %(window_end)s))
  AND (NOT %(lagging)s OR o.source_state IS DISTINCT FROM r.source_state OR o.rule_version IS DISTINCT FROM %(rules)s)
  -- An outcome whose event is past its retention stands as it was.
  AND (NOT %(lagging)s OR o.event_id IS NULL
       OR EXISTS (SELECT FROM kb_retrieval_event AS kept WHERE kept.id = o.event_id))
  AND (NOT %(decided)s OR (r.decided_at IS NOT NULL AND r.event_id IS NOT NULL))
ORDER BY coalesce(r.decided_at, r.drafted_at), r.message_id
