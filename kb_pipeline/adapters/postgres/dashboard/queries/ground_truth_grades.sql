-- Judgments by status and grade.
SELECT status, grade, count(*)
FROM kb_ground_truth
WHERE true
  AND (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s)
GROUP BY status, grade
