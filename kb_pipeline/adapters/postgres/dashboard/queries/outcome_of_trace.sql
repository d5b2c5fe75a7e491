-- What an expert did with the draft that a call wrote.
SELECT outcome, decided_at, similarity
FROM kb_draft_outcome
WHERE trace_id = %(trace_id)s
ORDER BY decided_at DESC NULLS LAST
LIMIT 1
