SELECT
  (SELECT count(*) FROM rag_call WHERE ts >= %(window_start)s AND ts < %(window_end)s) AS rag_call,
  (SELECT count(*) FROM rag_triad WHERE ts >= %(window_start)s AND ts < %(window_end)s) AS rag_triad,
  (SELECT count(*) FROM rag_metric WHERE ts >= %(window_start)s AND ts < %(window_end)s) AS rag_metric,
  (SELECT count(*) FROM rag_judge_score WHERE ts >= %(window_start)s AND ts < %(window_end)s) AS rag_judge_score,
  (SELECT count(*) FROM rag_quality WHERE ts >= %(window_start)s AND ts < %(window_end)s) AS rag_quality,
  (SELECT count(*) FROM rag_quality_window WHERE hour >= %(window_start)s AND hour < %(window_end)s) AS rag_quality_window
