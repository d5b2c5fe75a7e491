SELECT
  -- What Great Expectations reads: the judgments first made in the window, each with the facts that a rule about several
  -- columns needs. The file begins with SELECT because Great Expectations asks for that. It goes through SQLAlchemy as
  -- text, so no percent sign stands in it, and no colon alone before a word.
  t.*,
  abs(t.p - (t.positive + 0.1) / nullif(t.positive + t.negative + 0.2, 0)) AS p_error,
  t.conversations - t.evidence_count AS conversations_too_many,
  (SELECT count(*) FROM unnest(t.kinds) AS kind WHERE kind <> ALL ({kinds}::text[])) AS unknown_kinds
FROM kb_ground_truth AS t
WHERE t.created_at >= {window_start} AND t.created_at < {window_end}
