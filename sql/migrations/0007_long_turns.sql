-- Turns that exceed the judge's context window: graded by parts, or skipped with the reason.

ALTER TABLE rag_judge_score
  ADD COLUMN parts integer CHECK (parts >= 1),
  ADD COLUMN context_shown double precision CHECK (context_shown BETWEEN 0 AND 1),
  ADD COLUMN history_left_out integer CHECK (history_left_out >= 0),
  ADD COLUMN skip_reason text,
  DROP CONSTRAINT rag_judge_score_status_check,
  ADD CONSTRAINT rag_judge_score_status_check
    CHECK (status IN ('claimed', 'ok', 'error', 'failed', 'outdated', 'skipped')),
  ADD CONSTRAINT rag_judge_score_skip_has_a_reason CHECK ((status = 'skipped') = (skip_reason IS NOT NULL));
COMMENT ON COLUMN rag_judge_score.status IS 'claimed: a call may be in flight; ok: scored; error: tried again later; failed: attempts used up; outdated: the turn was read anew since, and waits; skipped: cannot be judged, see skip_reason.';
COMMENT ON COLUMN rag_judge_score.error_detail IS 'What the last call met, or why the turn is skipped; never text of a turn.';
COMMENT ON COLUMN rag_judge_score.parts IS 'In how many parts the scores were given; null where the judge was shown the turn whole, or gave none.';
COMMENT ON COLUMN rag_judge_score.context_shown IS 'The share of the context, by characters, that the judge was shown in some part, a fraction; 1 where it was shown whole.';
COMMENT ON COLUMN rag_judge_score.history_left_out IS 'Messages of the conversation, the oldest, that the judge was not shown.';
COMMENT ON COLUMN rag_judge_score.skip_reason IS 'Why the turn cannot be judged; set for skipped.';

ALTER TABLE rag_quality ADD COLUMN judge_parts integer CHECK (judge_parts >= 1);
COMMENT ON COLUMN rag_quality.judge_parts IS 'In how many parts the judge graded the turn; null where it was shown the turn whole, or gave no scores.';

CREATE FUNCTION kb_is_judgeable(context_chars integer, answer_chars integer) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT context_chars <= 2000000 AND answer_chars <= 200000
$$;
COMMENT ON FUNCTION kb_is_judgeable IS 'Whether a turn is short enough to be put to any judge, if need be in parts.';

CREATE FUNCTION kb_judge_calls(chars integer, answer_chars integer, judge_chars integer) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN chars <= judge_chars THEN 1 ELSE least(8, 1 + 2 * answer_chars / greatest(judge_chars, 1)) END
$$;
COMMENT ON FUNCTION kb_judge_calls IS 'About how many calls a turn takes of a judge with room for so many characters: each part is half answer at most.';
