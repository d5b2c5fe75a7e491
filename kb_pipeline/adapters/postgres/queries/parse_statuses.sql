SELECT parse_status, count(*)
FROM rag_call
WHERE ts >= %(window_start)s AND ts < %(window_end)s AND verdict = 'synthesis'
GROUP BY parse_status
ORDER BY parse_status
