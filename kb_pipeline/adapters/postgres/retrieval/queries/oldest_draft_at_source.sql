-- oldest_draft_at_source
-- The oldest draft we know of that the source still has; none where it shows nothing at all. What is older was purged
-- there by age, and keeps its outcome. Of our own rows, because one stray row of the source must not say what was purged.
SELECT o.drafted_at
FROM kb_draft_outcome AS o
WHERE EXISTS (SELECT FROM kb_source.message AS m WHERE m.message_id = o.message_id)
ORDER BY o.drafted_at
LIMIT 1
