-- The oldest hour from a day on with a turn that waits for a score.
SELECT hour FROM rag_quality_window
WHERE hour >= %(since)s AND pending + errors > 0
ORDER BY hour
LIMIT 1
