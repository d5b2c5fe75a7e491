-- Faithfulness of all graded turns of the window, as sums per judge version and surface.
SELECT judge_model, prompt_version, surface, count(*) AS n, sum(faithfulness) AS total, sum(faithfulness ^ 2) AS total_sq
FROM rag_quality
WHERE ts >= %(window_start)s AND ts < %(window_end)s AND faithfulness IS NOT NULL
GROUP BY judge_model, prompt_version, surface
