SELECT hour, sum(graded)::integer, sum(faithfulness_sum) / nullif(sum(faithfulness_n), 0)
FROM rag_quality_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s
GROUP BY hour
ORDER BY hour
