-- How many turns of the last days wait for a score, and the oldest of those days.
SELECT coalesce(sum(pending + errors), 0)::bigint, min(day) FILTER (WHERE pending + errors > 0)
FROM rag_quality_day
WHERE day >= %(since)s
