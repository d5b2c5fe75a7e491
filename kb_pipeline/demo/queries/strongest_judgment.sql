-- The judgment that most conversations stand behind.
SELECT org_id, specialist_id, query_sha, doc_id, grade, conversations
FROM kb_ground_truth
WHERE status = 'judged'
ORDER BY conversations DESC, positive DESC, query_sha, doc_id
LIMIT 1
