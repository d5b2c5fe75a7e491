SELECT coalesce(surface, ''), count(*)
FROM kb_source.ai_call
WHERE ts > now() - interval '7 days'
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20
