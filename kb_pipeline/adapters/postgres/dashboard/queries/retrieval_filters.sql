-- The tenants and engines that had retrievals since an hour.
SELECT org_id, specialist_id, engine, sum(retrievals + shadows)::bigint
FROM kb_retrieval_window
WHERE hour >= %(since)s
GROUP BY org_id, specialist_id, engine
ORDER BY 4 DESC, 1, 2, 3
LIMIT 200
