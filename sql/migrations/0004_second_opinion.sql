-- The second opinion, counted for every turn and held against the judge's score.

CREATE INDEX rag_metric_no_opinion ON rag_metric (ts) WHERE opinion_version IS NULL;
COMMENT ON COLUMN rag_metric.opinion IS 'What the second opinion counted, kind by kind: how many the answer claims and how many its context has. No text. Null until counted, and where the text was gone by then.';

CREATE FUNCTION kb_disagreement(faithfulness double precision, support_score double precision, doubt double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN faithfulness IS NULL OR support_score IS NULL THEN NULL
    ELSE greatest(least(faithfulness, doubt), least(1 - faithfulness, support_score * (1 - doubt)))
  END
$$;
COMMENT ON FUNCTION kb_disagreement IS 'How strongly judge and second opinion contradict each other, in [0, 1]: the judge trusts what is doubted, or distrusts what is all found. Null where either has no score.';

ALTER TABLE rag_quality
  ADD COLUMN disagreement double precision CHECK (disagreement BETWEEN 0 AND 1);
COMMENT ON COLUMN rag_quality.support_score IS 'The second opinion: how much of the answer its context supports, counted, a fraction; null where the answer asserts nothing, there is no context, or nothing was counted.';
COMMENT ON COLUMN rag_quality.disagreement IS 'How strongly the judge''s faithfulness and the second opinion contradict each other, a fraction; null where either has no score.';
-- From 0.7 on a turn is listed first for human eyes.
CREATE INDEX rag_quality_disagreement ON rag_quality (ts) WHERE disagreement >= 0.7;

-- Every hour whose turns were examined before is run once more, and gets its opinions then.
INSERT INTO rag_stale_hour (hour, stage)
SELECT DISTINCT date_trunc('hour', ts, 'UTC'), 'publish' FROM rag_metric
ON CONFLICT (hour, stage) DO NOTHING;
