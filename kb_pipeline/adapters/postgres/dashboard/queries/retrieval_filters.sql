-- The tenants and engines that had retrievals since a day, the busiest first.
SELECT org_id, specialist_id, engine, sum(retrievals + shadows)::bigint
FROM kb_retrieval_day
WHERE day >= %(since)s
GROUP BY org_id, specialist_id, engine
ORDER BY 4 DESC, 1, 2, 3
LIMIT 200
