-- Judgments by grade and status; queries, and those with at least one judged document.
SELECT
  count(*) FILTER (WHERE grade = 3) AS grade_3,
  count(*) FILTER (WHERE grade = 2) AS grade_2,
  count(*) FILTER (WHERE grade = 1) AS grade_1,
  count(*) FILTER (WHERE grade = 0) AS grade_0,
  count(*) FILTER (WHERE status = 'conflict') AS conflicts,
  count(*) FILTER (WHERE status = 'insufficient') AS insufficient,
  count(*) FILTER (WHERE self_made) AS self_made,
  count(DISTINCT (org_id, specialist_id, query_sha)) FILTER (WHERE status = 'judged') AS labelled_queries,
  (SELECT count(*) FROM kb_query) AS queries
FROM kb_ground_truth
