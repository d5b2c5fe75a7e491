-- Every judge version that was asked about turns of the window: how many it scored, when the first of them, and how many
-- it left without a score, by the class of its last error.
WITH asked AS (
  SELECT judge_model, prompt_version, status, error_class, judged_at
  FROM rag_judge_score
  WHERE ts >= %(window_start)s AND ts < %(window_end)s AND status IN ('ok', 'error', 'failed')
), failure AS (
  SELECT judge_model, prompt_version, jsonb_object_agg(error_class, turns) AS ungraded
  FROM (
    SELECT judge_model, prompt_version, error_class, count(*) AS turns
    FROM asked
    WHERE status <> 'ok'
    GROUP BY 1, 2, 3
  ) AS each
  GROUP BY 1, 2
)
SELECT
  a.judge_model, a.prompt_version, count(*) FILTER (WHERE a.status = 'ok') AS graded,
  min(a.judged_at) FILTER (WHERE a.status = 'ok') AS first_at, coalesce(f.ungraded, '{}') AS ungraded
FROM asked AS a
LEFT JOIN failure AS f USING (judge_model, prompt_version)
GROUP BY a.judge_model, a.prompt_version, f.ungraded
ORDER BY 1, 2
