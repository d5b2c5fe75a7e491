-- Waits between runs: of a turn that the judge failed on, and of a judge that was found down.

ALTER TABLE rag_judge_score
  ADD COLUMN failed_runs integer NOT NULL DEFAULT 0 CHECK (failed_runs >= 0),
  ADD COLUMN retry_at timestamptz;
COMMENT ON COLUMN rag_judge_score.failed_runs IS 'Runs in a row that called for the turn and got no scores.';
COMMENT ON COLUMN rag_judge_score.retry_at IS 'No run calls again before it unless asked to; null where nothing is to be waited for.';

CREATE TABLE rag_judge_outage (
  judge_model text PRIMARY KEY,
  since       timestamptz NOT NULL,
  runs        integer NOT NULL CHECK (runs > 0),
  retry_at    timestamptz NOT NULL
);
COMMENT ON TABLE rag_judge_outage IS 'Judging models that are down: from the run that found one so until a run that gets scores from it.';
COMMENT ON COLUMN rag_judge_outage.judge_model IS 'The judging model.';
COMMENT ON COLUMN rag_judge_outage.since IS 'When it was first found down.';
COMMENT ON COLUMN rag_judge_outage.runs IS 'Runs in a row that found it down.';
COMMENT ON COLUMN rag_judge_outage.retry_at IS 'No run calls it before this instant unless asked to.';
