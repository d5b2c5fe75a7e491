-- Whether anything we keep names a document of one tenant: evidence, or a result of this query.
SELECT
  EXISTS (
    SELECT FROM kb_evidence
    WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND doc_id = %(doc_id)s)
  OR EXISTS (
    SELECT FROM kb_retrieval_event
    WHERE org_id = %(org_id)s AND specialist_id = %(specialist_id)s AND query_sha = %(query_sha)s
      AND retrieved @> jsonb_build_array(jsonb_build_object('doc_id', %(doc_id)s::text)))
