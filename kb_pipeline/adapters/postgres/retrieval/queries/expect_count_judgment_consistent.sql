-- Judgments of the window whose columns contradict each other.
SELECT
  count(*) FILTER (WHERE status = 'judged' AND grade IS NULL) AS judged_without_grade,
  count(*) FILTER (WHERE status <> 'judged' AND grade IS NOT NULL) AS grade_without_judgment,
  count(*) FILTER (
    WHERE abs(p - (positive + 0.1) / nullif(positive + negative + 0.2, 0)) > %(tolerance)s) AS p_of_other_masses,
  count(*) FILTER (WHERE conversations > evidence_count) AS more_conversations_than_evidence,
  count(*) FILTER (WHERE first_observed_at > last_observed_at) AS ends_before_it_begins
FROM kb_ground_truth
WHERE created_at >= %(window_start)s AND created_at < %(window_end)s
