-- What to do: subjects that gaps of two conversations and more have in common, the most frequent first. Where nothing is
-- known the subject is a query: its preview is given, never its text.
SELECT t.org_id, t.specialist_id, t.kind, t.subject, q.query_preview, t.conversations, t.gaps, t.last_seen_at
FROM kb_gap_task AS t
LEFT JOIN kb_query AS q ON (q.org_id, q.specialist_id, q.query_sha) = (t.org_id, t.specialist_id, t.subject)
WHERE (%(org)s::uuid IS NULL OR t.org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR t.specialist_id = %(specialist)s)
ORDER BY t.conversations DESC, t.last_seen_at DESC, t.subject
LIMIT %(limit)s
