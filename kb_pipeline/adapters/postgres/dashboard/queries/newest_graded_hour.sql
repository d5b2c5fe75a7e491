-- The newest hour before an instant that has graded turns.
SELECT max(hour) FROM rag_quality_window
WHERE hour >= %(since)s AND hour < %(window_end)s AND graded > 0
