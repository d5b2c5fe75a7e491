-- One row of a day; of two runs at once the later one stands.
INSERT INTO rag_judge_calibration (
  day, judge_model, prompt_version, language, label_kind, n, positives, threshold, statistics)
VALUES (
  %(day)s, %(judge_model)s, %(prompt_version)s, %(language)s, %(label_kind)s, %(n)s, %(positives)s, %(threshold)s,
  %(statistics)s)
ON CONFLICT (day, judge_model, prompt_version, language, label_kind) DO UPDATE SET
  n = excluded.n, positives = excluded.positives, threshold = excluded.threshold, statistics = excluded.statistics,
  computed_at = now()
