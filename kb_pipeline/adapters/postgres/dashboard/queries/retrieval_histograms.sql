-- Best scores and latencies of a window by engine: the counts of each bin, in the order of the bins.
SELECT engine, 'score', place, sum(n)::bigint
FROM kb_retrieval_window, unnest(top_score_hist) WITH ORDINALITY AS bin(n, place)
WHERE hour >= %(window_start)s AND hour < %(window_end)s
  AND (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
GROUP BY engine, place
UNION ALL
SELECT engine, 'latency', place, sum(n)::bigint
FROM kb_retrieval_window, unnest(latency_hist) WITH ORDINALITY AS bin(n, place)
WHERE hour >= %(window_start)s AND hour < %(window_end)s
  AND (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
GROUP BY engine, place
ORDER BY 1, 2, 3
