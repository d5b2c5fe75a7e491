-- Which of these tenants have evidence of one document for one query.
SELECT tenant.org_id, tenant.specialist_id
FROM unnest(%(org_ids)s::uuid[], %(specialist_ids)s::uuid[]) AS tenant (org_id, specialist_id)
WHERE EXISTS (
  SELECT FROM kb_evidence AS e
  WHERE e.org_id = tenant.org_id AND e.specialist_id = tenant.specialist_id
    AND e.query_sha = %(query_sha)s AND e.doc_id = %(doc_id)s)
