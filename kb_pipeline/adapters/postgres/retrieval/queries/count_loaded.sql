-- Retrievals that the audit log has in the window.
SELECT count(*) FROM kb_source.audit_log
WHERE event_type = 'kb.retrieval.context_loaded' AND created_at >= %(window_start)s AND created_at < %(window_end)s
