-- Rows of the hour whose statuses, scores and metrics contradict each other.
SELECT
  count(*) FILTER (WHERE parse_status <> ALL (%(parse_statuses)s)) AS parse_status_unknown,
  count(*) FILTER (WHERE judge_status <> ALL (%(judge_statuses)s)) AS judge_status_unknown,
  count(*) FILTER (WHERE error_class <> ALL (%(error_classes)s)) AS error_class_unknown,
  count(*) FILTER (WHERE judge_status = 'ok' AND scores = 0) AS ok_without_scores,
  count(*) FILTER (WHERE judge_status <> 'ok' AND scores > 0) AS scores_without_ok,
  count(*) FILTER (WHERE judge_status = 'ok' AND gaps > 0) AS ok_with_an_unexplained_gap,
  count(*) FILTER (WHERE judge_status = 'ok' AND num_nulls(judge_model, prompt_version) > 0) AS ok_without_judge_version,
  count(*) FILTER (WHERE judge_status IN ('error', 'failed') AND error_class IS NULL) AS error_without_class,
  count(*) FILTER (WHERE judge_status NOT IN ('error', 'failed') AND error_class IS NOT NULL) AS class_without_error,
  count(*) FILTER (WHERE judge_status = 'skipped' AND skip_reason IS NULL) AS skipped_without_reason,
  count(*) FILTER (WHERE judge_status <> 'skipped' AND skip_reason IS NOT NULL) AS reason_without_skip,
  count(*) FILTER (WHERE refused AND faithfulness IS NOT NULL) AS refusal_with_faithfulness,
  count(*) FILTER (WHERE had_context AND context_chars < 1) AS context_without_characters,
  count(*) FILTER (WHERE NOT had_context AND num_passages = 0 AND context_chars <> 0) AS characters_without_context,
  count(*) FILTER (WHERE num_passages = 0 AND top_score IS NOT NULL) AS score_without_passages
FROM (
  SELECT
    *,
    num_nonnulls(faithfulness, answer_relevance, context_relevance) AS scores,
    (faithfulness IS NULL AND coalesce(faithfulness_reason, '') = '')::integer
      + (answer_relevance IS NULL AND coalesce(answer_relevance_reason, '') = '')::integer
      + (context_relevance IS NULL AND coalesce(context_relevance_reason, '') = '')::integer AS gaps
  FROM rag_quality
  WHERE ts >= %(window_start)s AND ts < %(window_end)s
) AS turn
