-- Judged documents that are not in their tenant's knowledge base in any version, but in another's.
SELECT count(*) AS documents_of_another_tenant
FROM (SELECT DISTINCT org_id, specialist_id, doc_id FROM kb_ground_truth) AS t
JOIN (SELECT DISTINCT doc_id FROM kb_source.kb_chunk) AS somewhere USING (doc_id)
LEFT JOIN (SELECT DISTINCT org_id, specialist_id, doc_id, true AS is_own FROM kb_source.kb_chunk) AS own
  USING (org_id, specialist_id, doc_id)
WHERE own.is_own IS NULL
