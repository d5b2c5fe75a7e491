-- The tenants, surfaces and engines that had turns since a day.
SELECT 'tenant', tenant FROM rag_quality_day WHERE day >= %(since)s GROUP BY tenant
UNION ALL
SELECT 'surface', surface FROM rag_quality_day WHERE day >= %(since)s GROUP BY surface
UNION ALL
SELECT 'engine', engine FROM rag_quality_day WHERE day >= %(since)s GROUP BY engine
ORDER BY 1, 2
