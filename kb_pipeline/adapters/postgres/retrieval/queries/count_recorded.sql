-- Retrievals that the audit log has in the window, and how many of them have an event that was not a shadow run. Those
-- before the first event of all do not count: nobody recorded then.
SELECT count(*), count(*) FILTER (WHERE is_recorded)
FROM (
  SELECT
    EXISTS (SELECT FROM kb_retrieval_event AS e WHERE e.message_id = a.message_id AND NOT e.shadow)
    OR EXISTS (
      SELECT FROM kb_retrieval_event AS e
      WHERE e.conversation_id = a.conversation_id AND NOT e.shadow
        AND e.occurred_at BETWEEN a.created_at - %(nearby)s::interval AND a.created_at + %(nearby)s::interval
        AND (a.message_id IS NULL OR e.message_id IS NULL OR e.trace_id = a.trace_id))
    OR (a.conversation_id IS NULL AND EXISTS (
      SELECT FROM kb_retrieval_event AS e
      WHERE e.trace_id = a.trace_id AND NOT e.shadow
        AND e.occurred_at BETWEEN a.created_at - %(nearby)s::interval AND a.created_at + %(nearby)s::interval))
    AS is_recorded
  FROM kb_source.audit_log AS a
  WHERE a.event_type = 'kb.retrieval.context_loaded'
    AND a.created_at >= %(window_start)s AND a.created_at < %(window_end)s
    AND a.created_at >= (SELECT min(occurred_at) FROM kb_retrieval_event)
) AS entry
