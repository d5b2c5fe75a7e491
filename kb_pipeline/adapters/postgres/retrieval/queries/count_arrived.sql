-- Events of the window, shadow runs left out.
SELECT count(*) FROM kb_retrieval_event
WHERE occurred_at >= %(window_start)s AND occurred_at < %(window_end)s AND NOT shadow
