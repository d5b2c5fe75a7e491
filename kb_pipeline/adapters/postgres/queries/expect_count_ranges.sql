-- Values of the hour's rows that are out of range.
SELECT
  count(*) FILTER (WHERE faithfulness NOT BETWEEN 0 AND 1) AS faithfulness_out_of_range,
  count(*) FILTER (WHERE answer_relevance NOT BETWEEN 0 AND 1) AS answer_relevance_out_of_range,
  count(*) FILTER (WHERE context_relevance NOT BETWEEN 0 AND 1) AS context_relevance_out_of_range,
  count(*) FILTER (WHERE support_score NOT BETWEEN 0 AND 1) AS support_score_out_of_range,
  count(*) FILTER (WHERE disagreement NOT BETWEEN 0 AND 1) AS disagreement_out_of_range,
  count(*) FILTER (WHERE top_score IN ('NaN', 'Infinity', '-Infinity')) AS top_score_not_finite,
  count(*) FILTER (WHERE mean_score IN ('NaN', 'Infinity', '-Infinity')) AS mean_score_not_finite,
  count(*) FILTER (WHERE num_passages < 0) AS num_passages_negative,
  count(*) FILTER (WHERE context_chars < 0) AS context_chars_negative,
  count(*) FILTER (WHERE answer_chars < 0) AS answer_chars_negative,
  count(*) FILTER (WHERE char_length(question_preview) > %(preview_chars)s) AS question_preview_too_long,
  count(*) FILTER (WHERE question_sha !~ %(sha_pattern)s) AS question_sha_not_hexadecimal,
  count(*) FILTER (WHERE char_length(question_sha) <> %(sha_chars)s) AS question_sha_of_another_length
FROM rag_quality
WHERE ts >= %(window_start)s AND ts < %(window_end)s
