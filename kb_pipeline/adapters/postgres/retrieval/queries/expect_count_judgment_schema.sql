-- Judgments of the window where a column that is always filled is not.
SELECT
  count(*) AS rows,
  count(*) FILTER (WHERE num_nulls(
    org_id, specialist_id, query_sha, doc_id, status, p, positive, negative, conversations, evidence_count, kinds,
    self_made, first_observed_at, last_observed_at, as_of, rule_version, created_at, updated_at) > 0)
    AS rows_with_an_empty_column
FROM kb_ground_truth
WHERE created_at >= %(window_start)s AND created_at < %(window_end)s
