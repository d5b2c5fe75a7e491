-- A judge that can be trusted: what the second opinion counted, canaries, calibration.

ALTER TABLE rag_metric
  ADD COLUMN opinion jsonb CHECK (jsonb_typeof(opinion) = 'object'),
  ADD COLUMN opinion_version text,
  ADD CONSTRAINT rag_metric_opinion_has_a_version CHECK (opinion IS NULL OR opinion_version IS NOT NULL);
COMMENT ON COLUMN rag_metric.opinion IS 'What the second opinion counted, kind by kind: how many the answer claims and how many its context has. No text. Null until counted.';
COMMENT ON COLUMN rag_metric.opinion_version IS 'Which rules counted; null until counted.';
COMMENT ON COLUMN rag_metric.support_score IS 'The second opinion: how much of the answer its context supports, counted, a fraction; null where the answer asserts nothing, there is no context, or nothing was counted yet.';

CREATE TABLE rag_judge_canary (
  canary_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  judge_model    text NOT NULL,
  prompt_version text NOT NULL,
  asked_at       timestamptz NOT NULL,
  healthy        boolean,
  asked          integer NOT NULL CHECK (asked >= 0),
  right_verdicts integer NOT NULL CHECK (right_verdicts BETWEEN 0 AND asked),
  failures       jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(failures) = 'array'),
  CONSTRAINT rag_judge_canary_an_outage_says_nothing CHECK ((healthy IS NULL) = (asked = 0))
);
CREATE INDEX rag_judge_canary_asked_at ON rag_judge_canary (asked_at);
COMMENT ON TABLE rag_judge_canary IS 'Every canary: turns of our own with known verdicts, given to the judge. A wrong verdict makes it unhealthy.';
COMMENT ON COLUMN rag_judge_canary.canary_id IS 'A number of its own.';
COMMENT ON COLUMN rag_judge_canary.judge_model IS 'The model that was asked.';
COMMENT ON COLUMN rag_judge_canary.prompt_version IS 'The prompt it was asked with.';
COMMENT ON COLUMN rag_judge_canary.asked_at IS 'When it was asked.';
COMMENT ON COLUMN rag_judge_canary.healthy IS 'Whether every turn that it answered got the verdict it must have; null where nothing but outages came back.';
COMMENT ON COLUMN rag_judge_canary.asked IS 'Turns that it answered, usably or not; outages are not counted.';
COMMENT ON COLUMN rag_judge_canary.right_verdicts IS 'Those whose scores are all where they must be.';
COMMENT ON COLUMN rag_judge_canary.failures IS 'What was wrong, as codes: turn and aspect with too_low, too_high or missing, or turn and error class.';

CREATE TABLE rag_judge_calibration (
  day            date NOT NULL,
  judge_model    text NOT NULL,
  prompt_version text NOT NULL,
  language       text NOT NULL CHECK (language IN ('all', 'id', 'en', 'unknown')),
  label_kind     text NOT NULL CHECK (label_kind <> ''),
  n              integer NOT NULL CHECK (n >= 0),
  positives      integer NOT NULL CHECK (positives BETWEEN 0 AND n),
  threshold      double precision NOT NULL CHECK (threshold BETWEEN 0 AND 1),
  statistics     jsonb NOT NULL CHECK (jsonb_typeof(statistics) = 'object'),
  computed_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (day, judge_model, prompt_version, language, label_kind)
);
COMMENT ON TABLE rag_judge_calibration IS 'How far the judge agrees with the experts'' own outcomes over the thirty days that end with the day: one row per judge version, language and kind of label.';
COMMENT ON COLUMN rag_judge_calibration.day IS 'The last UTC day of the thirty.';
COMMENT ON COLUMN rag_judge_calibration.judge_model IS 'The model that gave the scores.';
COMMENT ON COLUMN rag_judge_calibration.prompt_version IS 'The prompt they were given with.';
COMMENT ON COLUMN rag_judge_calibration.language IS 'Language of the question: id, en, unknown where its text has expired; all for all of them together.';
COMMENT ON COLUMN rag_judge_calibration.label_kind IS 'expert_outcome: every decision; expert_outcome:<outcome>: those with this outcome beside all of the other label.';
COMMENT ON COLUMN rag_judge_calibration.n IS 'Graded turns with a label.';
COMMENT ON COLUMN rag_judge_calibration.positives IS 'Those labelled good: accepted or lightly edited.';
COMMENT ON COLUMN rag_judge_calibration.threshold IS 'A score at or above it says good: thresholds.faithfulness_warn at the time.';
COMMENT ON COLUMN rag_judge_calibration.statistics IS 'Each figure as value, low and high (95 %) and n, or null with its reason.';
COMMENT ON COLUMN rag_judge_calibration.computed_at IS 'When the row was computed.';
