-- The numbers of a period: the ledger, the published rows, the judge's calls.
SELECT
  (SELECT count(*) FROM rag_call WHERE ts >= %(window_start)s AND ts < %(window_end)s) AS calls,
  (SELECT count(*) FROM rag_call
   WHERE ts >= %(window_start)s AND ts < %(window_end)s AND verdict IN ('synthesis', 'sampled_out')) AS synthesis_calls,
  (SELECT count(*) FROM rag_call
   WHERE ts >= %(window_start)s AND ts < %(window_end)s AND verdict = 'sampled_out') AS sampled_out,
  (SELECT coalesce(sum(calls), 0)::integer FROM rag_judge_score
   WHERE ts >= %(window_start)s AND ts < %(window_end)s) AS judge_calls,
  count(*) FILTER (WHERE judge_status = 'ok') AS graded,
  avg(faithfulness) AS mean_faithfulness,
  (count(*) FILTER (WHERE faithfulness >= %(grounded_from)s))::float8 / nullif(count(faithfulness), 0) AS grounded_rate,
  (count(*) FILTER (WHERE refused))::float8 / nullif(count(*), 0) AS refusal_rate
FROM rag_quality
WHERE ts >= %(window_start)s AND ts < %(window_end)s
