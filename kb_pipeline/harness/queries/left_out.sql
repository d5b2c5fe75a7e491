-- What a reader of one tenant's judged queries does not get: conflicts, insufficient, self-made, weak, words expired.
SELECT
  count(*) FILTER (WHERE truth.status = 'conflict') AS conflicts,
  count(*) FILTER (WHERE truth.status = 'insufficient') AS insufficient,
  count(*) FILTER (WHERE truth.status = 'judged' AND truth.self_made AND NOT %(include_self_made)s) AS self_made,
  count(*) FILTER (WHERE truth.status = 'judged' AND truth.grade BETWEEN 1 AND %(min_grade)s - 1) AS below_min_grade,
  count(DISTINCT truth.query_sha) FILTER (WHERE truth.status = 'judged' AND NOT %(with_tombstones)s AND NOT EXISTS (
    SELECT FROM kb_query AS query
    WHERE query.org_id = truth.org_id AND query.specialist_id = truth.specialist_id
      AND query.query_sha = truth.query_sha AND query.query IS NOT NULL
    OFFSET 0)) AS tombstones
FROM kb_ground_truth AS truth
WHERE truth.org_id = %(org_id)s AND truth.specialist_id = %(specialist_id)s
