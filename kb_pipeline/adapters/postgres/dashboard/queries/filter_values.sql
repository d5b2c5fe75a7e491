-- The tenants, surfaces and engines that had the most turns since a day, a hundred of each.
SELECT name, value
FROM (
  SELECT name, value, row_number() OVER (PARTITION BY name ORDER BY sum(turns) DESC, value) AS place
  FROM rag_quality_day
  CROSS JOIN LATERAL (VALUES ('tenant', tenant), ('surface', surface), ('engine', engine)) AS offered(name, value)
  WHERE day >= %(since)s
  GROUP BY name, value
) AS counted
WHERE place <= 100
ORDER BY name, value
