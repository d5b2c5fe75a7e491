-- Judgments that have a grade.
SELECT org_id, specialist_id, query_sha, doc_id, grade FROM kb_ground_truth WHERE status = 'judged'
