-- drafts_of_window
-- Drafts that may belong to the window: whatever decides on their instant happened in it. Bare columns, so that the
-- operator's own indexes serve.
SELECT message_id FROM kb_source.message
WHERE role = 'draft' AND created_at >= %(window_start)s AND created_at < %(window_end)s
UNION
SELECT message_id FROM queue WHERE decided_at >= %(window_start)s AND decided_at < %(window_end)s
UNION
SELECT message_id FROM queue WHERE updated_at >= %(window_start)s AND updated_at < %(window_end)s
UNION
SELECT message_id FROM correction WHERE created_at >= %(window_start)s AND created_at < %(window_end)s
