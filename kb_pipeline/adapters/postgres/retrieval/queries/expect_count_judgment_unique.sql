-- Judgments of the window that share tenant, query and document.
SELECT count(*) FILTER (WHERE copies > 1) AS rows_that_share_a_key
FROM (
  SELECT count(*) OVER (PARTITION BY org_id, specialist_id, query_sha, doc_id) AS copies
  FROM kb_ground_truth
  WHERE created_at >= %(window_start)s AND created_at < %(window_end)s
) AS judgment
