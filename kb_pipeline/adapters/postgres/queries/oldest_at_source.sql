-- The oldest call of the ledger that the source still has; none where it shows nothing at all. What is older was purged
-- there by age, and keeps its scores. Of the ledger, because one stray row of the source must not say what was purged.
SELECT k.ts
FROM rag_call AS k
WHERE EXISTS (SELECT FROM kb_source.ai_call AS c WHERE c.event_id = k.event_id)
ORDER BY k.ts
LIMIT 1
