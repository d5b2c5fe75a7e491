-- Rows of the window by table; a draft counts in the hour of its decision, and while it is pending in that of the draft.
SELECT 'kb_draft_outcome', count(*) FROM kb_draft_outcome
WHERE (decided_at >= %(window_start)s AND decided_at < %(window_end)s)
   OR (outcome = 'pending' AND drafted_at >= %(window_start)s AND drafted_at < %(window_end)s)
UNION ALL
SELECT 'kb_retrieval_gap', count(*) FROM kb_retrieval_gap
WHERE decided_at >= %(window_start)s AND decided_at < %(window_end)s
UNION ALL
SELECT 'kb_retrieval_window', count(*) FROM kb_retrieval_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s
