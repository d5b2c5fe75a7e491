-- Documents that have evidence for one tenant's query, those with most of it first.
SELECT doc_id
FROM kb_evidence
WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND query_sha = %(query_sha)s
GROUP BY doc_id
ORDER BY count(*) DESC, doc_id
LIMIT %(limit)s
