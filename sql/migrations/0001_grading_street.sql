-- The grading street: ledger, triads, metrics, judge scores, the published row, hourly windows.

CREATE TABLE rag_call (
  event_id        text PRIMARY KEY CHECK (event_id <> ''),
  trace_id        text,
  ts              timestamptz NOT NULL,
  tenant          text NOT NULL DEFAULT '',
  surface         text NOT NULL DEFAULT '',
  operation       text,
  engine          text NOT NULL DEFAULT '',
  model           text,
  http_status     integer,
  verdict         text NOT NULL CHECK (verdict IN ('synthesis', 'other', 'sampled_out', 'self', 'unreadable')),
  parse_status    text CHECK (parse_status IN (
    'ok', 'ok_length', 'context_fallback', 'no_question', 'truncated_prompt', 'tool_calls', 'refusal',
    'content_filter', 'empty_answer', 'no_choices', 'error', 'stream_error', 'stream_incomplete', 'empty',
    'not_json', 'truncated_json', 'undecodable', 'redacted', 'not_chat', 'too_large', 'missing_body')),
  evidence_intact boolean,
  template        text,
  examined_at     timestamptz NOT NULL DEFAULT now(),
  erased_at       timestamptz,
  CONSTRAINT rag_call_status_goes_with_verdict
    CHECK ((verdict IN ('synthesis', 'unreadable')) = (parse_status IS NOT NULL))
);
CREATE INDEX rag_call_ts ON rag_call (ts);
COMMENT ON TABLE rag_call IS 'The ledger: one row per audited call that was examined, so that no call is read twice and every call is accounted for. Holds no text; its rows outlive erasure as tombstones.';
COMMENT ON COLUMN rag_call.ts IS 'Completion of the audited call.';
COMMENT ON COLUMN rag_call.verdict IS 'synthesis: a turn; other: some other call; sampled_out: a turn left out by sample_rate; self: a call of this pipeline; unreadable: the request could not be read.';
COMMENT ON COLUMN rag_call.parse_status IS 'How the stored pair could be read; set for synthesis and unreadable.';
COMMENT ON COLUMN rag_call.erased_at IS 'When everything else known of the turn was deleted, by retention or because the source deleted it; the tombstone keeps it from being graded again.';
COMMENT ON COLUMN rag_call.template IS 'Fingerprint of the markers and the sample rate that the verdict was decided by; null where the surface was not configured.';
COMMENT ON COLUMN rag_call.evidence_intact IS 'Whether the stored bodies match the hash chain; null where the audit trail maps none.';

CREATE TABLE rag_triad (
  event_id         text PRIMARY KEY,
  ts               timestamptz NOT NULL,
  parse_status     text NOT NULL,
  question         text,
  context          text,
  passages         jsonb CHECK (jsonb_typeof(passages) = 'array'),
  history          jsonb CHECK (jsonb_typeof(history) = 'array'),
  answer           text,
  finish_reason    text,
  question_sha     text CHECK (char_length(question_sha) = 64 AND question_sha ~ '^[0-9a-f]+$'),
  question_preview text CHECK (char_length(question_preview) <= 120),
  text_expired_at  timestamptz,
  created_at       timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT rag_triad_expired_has_no_text CHECK (
    text_expired_at IS NULL
    OR (question IS NULL AND context IS NULL AND passages IS NULL AND history IS NULL AND answer IS NULL))
);
CREATE INDEX rag_triad_ts ON rag_triad (ts);
CREATE INDEX rag_triad_text_to_expire ON rag_triad (ts) WHERE text_expired_at IS NULL;
COMMENT ON TABLE rag_triad IS 'Question, retrieved context and answer of one synthesis call. The only table with their full text; it expires after retention.triad_text_days.';
COMMENT ON COLUMN rag_triad.question_sha IS 'SHA-256 (hex) of the NFC-normalised question; null without a question.';
COMMENT ON COLUMN rag_triad.question_preview IS 'At most 120 characters of the question, redacted; expires after retention.preview_days.';

CREATE TABLE rag_metric (
  event_id         text PRIMARY KEY,
  ts               timestamptz NOT NULL,
  had_context      boolean NOT NULL,
  num_passages     integer NOT NULL CHECK (num_passages >= 0),
  top_score        double precision CHECK (top_score = top_score AND abs(top_score) < 'infinity'),
  mean_score       double precision CHECK (mean_score = mean_score AND abs(mean_score) < 'infinity'),
  context_chars    integer NOT NULL CHECK (context_chars >= 0),
  answer_chars     integer NOT NULL CHECK (answer_chars >= 0),
  refused          boolean NOT NULL,
  answer_truncated boolean NOT NULL,
  support_score    double precision CHECK (support_score BETWEEN 0 AND 1),
  created_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX rag_metric_ts ON rag_metric (ts);
COMMENT ON TABLE rag_metric IS 'The deterministic metrics of one synthesis call: exact, free, always there.';

CREATE TABLE rag_judge_score (
  event_id                text NOT NULL,
  judge_model             text NOT NULL,
  prompt_version          text NOT NULL,
  ts                      timestamptz NOT NULL,
  status                  text NOT NULL CHECK (status IN ('claimed', 'ok', 'error', 'failed', 'outdated')),
  claimed_by              text,
  claim_lock              integer,
  claimed_at              timestamptz,
  lease_until             timestamptz,
  idempotency_key         text NOT NULL,
  calls                   integer NOT NULL DEFAULT 0 CHECK (calls >= 0),
  attempts                integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  faithfulness            double precision CHECK (faithfulness BETWEEN 0 AND 1),
  answer_relevance        double precision CHECK (answer_relevance BETWEEN 0 AND 1),
  context_relevance       double precision CHECK (context_relevance BETWEEN 0 AND 1),
  faithfulness_reason     text,
  answer_relevance_reason text,
  context_relevance_reason text,
  error_class             text CHECK (error_class IN (
    'timeout', 'connection', 'rate_limited', 'http_4xx', 'http_5xx', 'not_json', 'bad_schema', 'out_of_range',
    'truncated_reply', 'empty_reply')),
  error_detail            text,
  response_format         text,
  prompt_tokens           integer CHECK (prompt_tokens >= 0),
  completion_tokens       integer CHECK (completion_tokens >= 0),
  latency_ms              integer CHECK (latency_ms >= 0),
  judged_at               timestamptz,
  PRIMARY KEY (event_id, judge_model, prompt_version),
  CONSTRAINT rag_judge_score_ok_has_a_score CHECK (
    (status = 'ok') = (num_nonnulls(faithfulness, answer_relevance, context_relevance) > 0)),
  CONSTRAINT rag_judge_score_no_score_has_a_reason CHECK (
    status <> 'ok'
    OR ((faithfulness IS NOT NULL OR coalesce(faithfulness_reason, '') <> '')
        AND (answer_relevance IS NOT NULL OR coalesce(answer_relevance_reason, '') <> '')
        AND (context_relevance IS NOT NULL OR coalesce(context_relevance_reason, '') <> ''))),
  CONSTRAINT rag_judge_score_error_has_a_class CHECK (status NOT IN ('error', 'failed') OR error_class IS NOT NULL),
  CONSTRAINT rag_judge_score_claim_has_a_lease CHECK (
    status <> 'claimed' OR (lease_until IS NOT NULL AND claimed_by IS NOT NULL AND claim_lock IS NOT NULL))
);
CREATE INDEX rag_judge_score_ts ON rag_judge_score (ts);
CREATE INDEX rag_judge_score_judged_at ON rag_judge_score (judged_at);
CREATE INDEX rag_judge_score_open ON rag_judge_score (ts) WHERE status IN ('claimed', 'error');
COMMENT ON TABLE rag_judge_score IS 'One row per synthesis call, judge model and prompt version. Claimed before the call, so that a key has at most one call in flight.';
COMMENT ON COLUMN rag_judge_score.idempotency_key IS 'Sent with the call and stored with the claim: the same attempt after a crash carries the same key.';
COMMENT ON COLUMN rag_judge_score.calls IS 'Calls made for this key, outages included.';
COMMENT ON COLUMN rag_judge_score.attempts IS 'Attempts used up; an outage uses none.';

-- 1801606505 spells "kb_i" in ASCII: the class of the locks that claiming runs hold.
CREATE FUNCTION kb_claim_is_live(claim_lock integer, lease_until timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT lease_until > clock_timestamp() AND EXISTS (
    SELECT 1 FROM pg_locks AS l
    WHERE l.locktype = 'advisory' AND l.classid = 1801606505 AND l.objid = claim_lock::oid AND l.objsubid = 2
      AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
$$;
COMMENT ON FUNCTION kb_claim_is_live IS 'Whether a claim still holds: its lease has not ended and its run is connected. A killed run loses its claims at once.';

CREATE TABLE rag_quality (
  event_id                 text NOT NULL,
  trace_id                 text,
  ts                       timestamptz NOT NULL,
  tenant                   text NOT NULL DEFAULT '',
  engine                   text NOT NULL DEFAULT '',
  surface                  text NOT NULL DEFAULT '',
  question_sha             text,
  question_preview         text CHECK (char_length(question_preview) <= 120),
  parse_status             text NOT NULL,
  had_context              boolean NOT NULL,
  num_passages             integer NOT NULL,
  top_score                double precision,
  mean_score               double precision,
  context_chars            integer NOT NULL,
  answer_chars             integer NOT NULL,
  refused                  boolean NOT NULL,
  answer_truncated         boolean NOT NULL,
  faithfulness             double precision,
  answer_relevance         double precision,
  context_relevance        double precision,
  faithfulness_reason      text,
  answer_relevance_reason  text,
  context_relevance_reason text,
  judge_status             text NOT NULL CHECK (judge_status IN ('ok', 'pending', 'error', 'failed', 'skipped', 'disabled')),
  error_class              text,
  skip_reason              text,
  judge_model              text,
  prompt_version           text,
  support_score            double precision CHECK (support_score BETWEEN 0 AND 1),
  evidence_intact          boolean,
  judged_at                timestamptz,
  created_at               timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (event_id, ts),
  CONSTRAINT rag_quality_scores_are_fractions CHECK (
    (faithfulness IS NULL OR faithfulness BETWEEN 0 AND 1)
    AND (answer_relevance IS NULL OR answer_relevance BETWEEN 0 AND 1)
    AND (context_relevance IS NULL OR context_relevance BETWEEN 0 AND 1)),
  CONSTRAINT rag_quality_only_ok_has_scores CHECK (
    (judge_status = 'ok') = (num_nonnulls(faithfulness, answer_relevance, context_relevance) > 0)),
  CONSTRAINT rag_quality_no_score_has_a_reason CHECK (
    judge_status <> 'ok'
    OR ((faithfulness IS NOT NULL OR coalesce(faithfulness_reason, '') <> '')
        AND (answer_relevance IS NOT NULL OR coalesce(answer_relevance_reason, '') <> '')
        AND (context_relevance IS NOT NULL OR coalesce(context_relevance_reason, '') <> ''))),
  CONSTRAINT rag_quality_error_has_a_class CHECK ((judge_status IN ('error', 'failed')) = (error_class IS NOT NULL)),
  CONSTRAINT rag_quality_skip_has_a_reason CHECK ((judge_status = 'skipped') = (skip_reason IS NOT NULL))
) PARTITION BY RANGE (ts);
CREATE INDEX rag_quality_ts ON rag_quality (ts);
CREATE INDEX rag_quality_surface_ts ON rag_quality (surface, ts);
CREATE INDEX rag_quality_open ON rag_quality (ts) WHERE judge_status IN ('pending', 'error', 'disabled');
COMMENT ON TABLE rag_quality IS 'The published row: one per synthesis call, idempotent on event_id (the ledger rag_call decides). Scores are null unless judge_status is ok.';
COMMENT ON COLUMN rag_quality.ts IS 'Completion of the audited call; the partition key.';
COMMENT ON COLUMN rag_quality.faithfulness IS 'Fraction of the answer that the retrieved context supports, by the judge; null with its reason when the answer asserts nothing.';

-- A turn of any month finds its partition: made ahead by maintenance, and on demand by the publisher.
CREATE FUNCTION kb_ensure_rag_quality_partition(at_instant timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  month_start timestamptz := date_trunc('month', at_instant, 'UTC');
  month_end   timestamptz := (date_trunc('month', at_instant AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
  partition   text := 'rag_quality_' || to_char(at_instant AT TIME ZONE 'UTC', 'YYYY_MM');
  is_attached boolean;
BEGIN
  IF (SELECT relkind FROM pg_class WHERE oid = 'rag_quality'::regclass) <> 'p' THEN
    RETURN false;  -- a hypertable makes its own chunks
  END IF;
  IF NOT isfinite(at_instant) THEN
    RAISE EXCEPTION 'no month holds the instant %', at_instant USING ERRCODE = 'datetime_field_overflow';
  END IF;
  -- From the catalogue itself: to_regclass remembers that there was no such table, also behind the lock.
  SELECT relispartition INTO is_attached FROM pg_class WHERE relname = partition AND relnamespace = 'public'::regnamespace;
  IF NOT FOUND THEN
    PERFORM pg_advisory_xact_lock(hashtext('kb_ensure_rag_quality_partition'));
    SELECT relispartition INTO is_attached FROM pg_class WHERE relname = partition AND relnamespace = 'public'::regnamespace;
  END IF;
  IF FOUND THEN
    IF NOT is_attached THEN
      RAISE EXCEPTION 'table % is not attached to rag_quality; attach it, or rename it', partition
        USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN false;
  END IF;
  -- Attached, not made as a partition: readers and writers of the other months go on meanwhile.
  EXECUTE format('CREATE TABLE %I (LIKE rag_quality INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition);
  EXECUTE format(
    'ALTER TABLE rag_quality ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition, month_start, month_end);
  RETURN true;
END $$;
-- It makes tables with the rights of their owner, so only roles that write rag_quality may call it (sql/roles.sql).
REVOKE ALL ON FUNCTION kb_ensure_rag_quality_partition(timestamptz) FROM PUBLIC;
COMMENT ON FUNCTION kb_ensure_rag_quality_partition IS 'Makes the monthly partition of rag_quality that holds the instant; true when it was made now.';

CREATE FUNCTION kb_dense_histogram(bins integer[], counts bigint[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT array_agg(coalesce(c.n, 0)::integer ORDER BY b.bin)
  FROM generate_series(0, 100) AS b(bin)
  LEFT JOIN unnest(bins, counts) AS c(bin, n) ON c.bin = b.bin
$$;
COMMENT ON FUNCTION kb_dense_histogram IS 'The 101 counts of a score histogram from the bins that occur; bin i holds [i/100, (i+1)/100), bin 100 exactly 1.';

CREATE TABLE rag_quality_window (
  hour                  timestamptz NOT NULL CHECK (date_trunc('hour', hour, 'UTC') = hour),
  tenant                text NOT NULL,
  surface               text NOT NULL,
  engine                text NOT NULL,
  judge_model           text NOT NULL,
  prompt_version        text NOT NULL,
  turns                 integer NOT NULL,
  graded                integer NOT NULL,
  pending               integer NOT NULL,
  errors                integer NOT NULL,
  failed                integer NOT NULL,
  skipped               integer NOT NULL,
  disabled              integer NOT NULL,
  had_context           integer NOT NULL,
  refused               integer NOT NULL,
  truncated             integer NOT NULL,
  faithfulness_n        integer NOT NULL,
  faithfulness_sum      double precision NOT NULL,
  faithfulness_sum_sq   double precision NOT NULL,
  faithfulness_hist     integer[] NOT NULL CHECK (cardinality(faithfulness_hist) = 101),
  answer_relevance_n      integer NOT NULL,
  answer_relevance_sum    double precision NOT NULL,
  answer_relevance_sum_sq double precision NOT NULL,
  answer_relevance_hist   integer[] NOT NULL CHECK (cardinality(answer_relevance_hist) = 101),
  context_relevance_n      integer NOT NULL,
  context_relevance_sum    double precision NOT NULL,
  context_relevance_sum_sq double precision NOT NULL,
  context_relevance_hist   integer[] NOT NULL CHECK (cardinality(context_relevance_hist) = 101),
  top_score_n           integer NOT NULL,
  top_score_sum         double precision NOT NULL,
  context_chars_sum     bigint NOT NULL,
  answer_chars_sum      bigint NOT NULL,
  judge_calls           integer NOT NULL,
  prompt_tokens         bigint NOT NULL,
  completion_tokens     bigint NOT NULL,
  judge_ms              bigint NOT NULL,
  PRIMARY KEY (hour, tenant, surface, engine, judge_model, prompt_version),
  CONSTRAINT rag_quality_window_adds_up CHECK (turns = graded + pending + errors + failed + skipped + disabled)
);
COMMENT ON TABLE rag_quality_window IS 'Mergeable sums, counts and histograms of one UTC hour, per tenant, surface, engine and judge version. Every mean is a sum over its own n.';
COMMENT ON COLUMN rag_quality_window.faithfulness_hist IS '101 counts: element i holds the scores in [(i-1)/100, i/100), the last those of exactly 1. A rate above any threshold in steps of 0.01 is exact.';

CREATE TABLE rag_call_window (
  hour                timestamptz NOT NULL CHECK (date_trunc('hour', hour, 'UTC') = hour),
  tenant              text NOT NULL,
  surface             text NOT NULL,
  engine              text NOT NULL,
  examined            integer NOT NULL,
  synthesis           integer NOT NULL,
  sampled_out         integer NOT NULL,
  other               integer NOT NULL,
  self                integer NOT NULL,
  unreadable          integer NOT NULL,
  parsed              integer NOT NULL,
  parse_attempted     integer NOT NULL,
  parse_status_counts jsonb NOT NULL,
  PRIMARY KEY (hour, tenant, surface, engine),
  CONSTRAINT rag_call_window_adds_up CHECK (examined = synthesis + sampled_out + other + self + unreadable)
);
COMMENT ON TABLE rag_call_window IS 'What the ledger says of one UTC hour: how many calls were examined, recognised and readable. It belongs to no judge version.';
COMMENT ON COLUMN rag_call_window.parsed IS 'ok + ok_length: the numerator of the parse-success rate.';
COMMENT ON COLUMN rag_call_window.parse_attempted IS 'parsed + context_fallback + no_question + truncated_prompt: its denominator, only what a template change can cause.';

CREATE TABLE rag_stale_hour (
  hour       timestamptz NOT NULL CHECK (date_trunc('hour', hour, 'UTC') = hour),
  stage      text NOT NULL CHECK (stage IN ('publish', 'aggregate')),
  touched_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (hour, stage)
);
COMMENT ON TABLE rag_stale_hour IS 'Hours whose published rows or windows lag behind: written with the change itself, removed with the refresh, so that a crash between the two loses nothing.';

CREATE TABLE kb_access_record (
  access_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  actor            text NOT NULL,
  database_role    text NOT NULL DEFAULT current_user,
  application_name text NOT NULL DEFAULT current_setting('application_name'),
  purpose          text NOT NULL,
  run_id           text,
  ts_from          timestamptz,
  ts_to            timestamptz,
  bodies           integer NOT NULL,
  body_bytes       bigint NOT NULL,
  read_at          timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX kb_access_record_read_at ON kb_access_record (read_at);
COMMENT ON TABLE kb_access_record IS 'Who read stored bodies, when and how many: one row per batch.';

CREATE TABLE kb_activation (
  feature      text PRIMARY KEY,
  start_at     timestamptz NOT NULL,
  activated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE kb_activation IS 'When a feature was first switched on: with start_at "now", nothing older is graded unless asked.';

-- Every column says what it holds: psql shows it, and so does the lineage in the Dagster UI.
COMMENT ON COLUMN rag_call.event_id IS 'The gateway''s id of the audited call.';
COMMENT ON COLUMN rag_call.trace_id IS 'The trace that the call belongs to.';
COMMENT ON COLUMN rag_call.tenant IS 'The tenant that called; empty where the audit trail names none.';
COMMENT ON COLUMN rag_call.surface IS 'The surface that called, for example public.';
COMMENT ON COLUMN rag_call.operation IS 'The gateway''s name of the operation.';
COMMENT ON COLUMN rag_call.engine IS 'The engine that served the call.';
COMMENT ON COLUMN rag_call.model IS 'The model that answered.';
COMMENT ON COLUMN rag_call.http_status IS 'The HTTP status that the gateway recorded.';
COMMENT ON COLUMN rag_call.examined_at IS 'When the call was examined.';

COMMENT ON COLUMN rag_triad.event_id IS 'The synthesis call.';
COMMENT ON COLUMN rag_triad.ts IS 'Completion of the audited call.';
COMMENT ON COLUMN rag_triad.parse_status IS 'How the stored pair could be read.';
COMMENT ON COLUMN rag_triad.question IS 'The user''s question.';
COMMENT ON COLUMN rag_triad.context IS 'The retrieved context as the prompt holds it; empty when nothing was retrieved.';
COMMENT ON COLUMN rag_triad.passages IS 'The passages of the context: rank, score, text.';
COMMENT ON COLUMN rag_triad.history IS 'The messages before the question, oldest first: role, text.';
COMMENT ON COLUMN rag_triad.answer IS 'The answer, without thinking.';
COMMENT ON COLUMN rag_triad.finish_reason IS 'Why the model stopped, in the server''s word.';
COMMENT ON COLUMN rag_triad.text_expired_at IS 'When the text was dropped; the row stays as a tombstone.';
COMMENT ON COLUMN rag_triad.created_at IS 'When the row was written.';

COMMENT ON COLUMN rag_metric.event_id IS 'The synthesis call.';
COMMENT ON COLUMN rag_metric.ts IS 'Completion of the audited call.';
COMMENT ON COLUMN rag_metric.had_context IS 'Whether any context was retrieved.';
COMMENT ON COLUMN rag_metric.num_passages IS 'Passages in the context.';
COMMENT ON COLUMN rag_metric.top_score IS 'Highest retrieval score of the passages; null without one.';
COMMENT ON COLUMN rag_metric.mean_score IS 'Mean retrieval score of the passages; null without one.';
COMMENT ON COLUMN rag_metric.context_chars IS 'Characters of the context.';
COMMENT ON COLUMN rag_metric.answer_chars IS 'Characters of the answer.';
COMMENT ON COLUMN rag_metric.refused IS 'Whether the answer is an honest refusal.';
COMMENT ON COLUMN rag_metric.answer_truncated IS 'Whether the answer was cut by its length limit.';
COMMENT ON COLUMN rag_metric.support_score IS 'Share of the answer that the context supports by words, numbers and names; null where it was not computed.';
COMMENT ON COLUMN rag_metric.created_at IS 'When the row was written.';

COMMENT ON COLUMN rag_judge_score.event_id IS 'The synthesis call.';
COMMENT ON COLUMN rag_judge_score.judge_model IS 'The judging model.';
COMMENT ON COLUMN rag_judge_score.prompt_version IS 'The version of the judge prompt.';
COMMENT ON COLUMN rag_judge_score.ts IS 'Completion of the audited call.';
COMMENT ON COLUMN rag_judge_score.status IS 'claimed: a call may be in flight; ok: scored; error: tried again later; failed: attempts used up; outdated: the turn was read anew since, and waits.';
COMMENT ON COLUMN rag_judge_score.claimed_by IS 'The run that holds or held the claim.';
COMMENT ON COLUMN rag_judge_score.claim_lock IS 'The advisory lock that the claiming run holds while it lives.';
COMMENT ON COLUMN rag_judge_score.claimed_at IS 'When the claim was made.';
COMMENT ON COLUMN rag_judge_score.lease_until IS 'When an unsettled claim is free again.';
COMMENT ON COLUMN rag_judge_score.faithfulness IS 'Fraction of the answer that the context supports, by the judge.';
COMMENT ON COLUMN rag_judge_score.answer_relevance IS 'How well the answer addresses the question, by the judge.';
COMMENT ON COLUMN rag_judge_score.context_relevance IS 'How well the context fits the question, by the judge.';
COMMENT ON COLUMN rag_judge_score.faithfulness_reason IS 'The judge''s reason, or why there is no score.';
COMMENT ON COLUMN rag_judge_score.answer_relevance_reason IS 'The judge''s reason, or why there is no score.';
COMMENT ON COLUMN rag_judge_score.context_relevance_reason IS 'The judge''s reason, or why there is no score.';
COMMENT ON COLUMN rag_judge_score.error_class IS 'Why the last call gave no scores.';
COMMENT ON COLUMN rag_judge_score.error_detail IS 'What the last call met; never text of a turn.';
COMMENT ON COLUMN rag_judge_score.response_format IS 'How the reply was asked for: json_schema, json_object or text.';
COMMENT ON COLUMN rag_judge_score.prompt_tokens IS 'Prompt tokens, over all calls.';
COMMENT ON COLUMN rag_judge_score.completion_tokens IS 'Completion tokens, over all calls.';
COMMENT ON COLUMN rag_judge_score.latency_ms IS 'Milliseconds of the last call.';
COMMENT ON COLUMN rag_judge_score.judged_at IS 'When the last call was settled.';

COMMENT ON COLUMN rag_quality.event_id IS 'The synthesis call.';
COMMENT ON COLUMN rag_quality.trace_id IS 'The trace that the call belongs to.';
COMMENT ON COLUMN rag_quality.tenant IS 'The tenant that called; empty where the audit trail names none.';
COMMENT ON COLUMN rag_quality.engine IS 'The engine that served the call.';
COMMENT ON COLUMN rag_quality.surface IS 'The surface that called, for example public.';
COMMENT ON COLUMN rag_quality.question_sha IS 'SHA-256 (hex) of the NFC-normalised question; null without a question.';
COMMENT ON COLUMN rag_quality.question_preview IS 'At most 120 characters of the question, redacted; expires.';
COMMENT ON COLUMN rag_quality.parse_status IS 'How the stored pair could be read.';
COMMENT ON COLUMN rag_quality.had_context IS 'Whether any context was retrieved.';
COMMENT ON COLUMN rag_quality.num_passages IS 'Passages in the context.';
COMMENT ON COLUMN rag_quality.top_score IS 'Highest retrieval score of the passages; null without one.';
COMMENT ON COLUMN rag_quality.mean_score IS 'Mean retrieval score of the passages; null without one.';
COMMENT ON COLUMN rag_quality.context_chars IS 'Characters of the context.';
COMMENT ON COLUMN rag_quality.answer_chars IS 'Characters of the answer.';
COMMENT ON COLUMN rag_quality.refused IS 'Whether the answer is an honest refusal.';
COMMENT ON COLUMN rag_quality.answer_truncated IS 'Whether the answer was cut by its length limit.';
COMMENT ON COLUMN rag_quality.answer_relevance IS 'How well the answer addresses the question, by the judge.';
COMMENT ON COLUMN rag_quality.context_relevance IS 'How well the context fits the question, by the judge; null with its reason without a context.';
COMMENT ON COLUMN rag_quality.faithfulness_reason IS 'The judge''s reason, or why there is no score.';
COMMENT ON COLUMN rag_quality.answer_relevance_reason IS 'The judge''s reason, or why there is no score.';
COMMENT ON COLUMN rag_quality.context_relevance_reason IS 'The judge''s reason, or why there is no score.';
COMMENT ON COLUMN rag_quality.judge_status IS 'ok, pending (not attempted yet), error (attempted, tried again later), failed (attempts used up), skipped (cannot be judged) or disabled.';
COMMENT ON COLUMN rag_quality.error_class IS 'Why the last judge call gave no scores; set for error and failed.';
COMMENT ON COLUMN rag_quality.skip_reason IS 'Why the turn cannot be judged; set for skipped.';
COMMENT ON COLUMN rag_quality.judge_model IS 'The judging model; null for skipped and disabled.';
COMMENT ON COLUMN rag_quality.prompt_version IS 'The version of the judge prompt; null for skipped and disabled.';
COMMENT ON COLUMN rag_quality.support_score IS 'Share of the answer that the context supports by words, numbers and names; null where it was not computed.';
COMMENT ON COLUMN rag_quality.evidence_intact IS 'Whether the stored bodies match the hash chain; null where the audit trail maps none.';
COMMENT ON COLUMN rag_quality.judged_at IS 'When the last judge call was settled.';
COMMENT ON COLUMN rag_quality.created_at IS 'When the row was first published.';

COMMENT ON COLUMN rag_quality_window.hour IS 'Start of the UTC hour.';
COMMENT ON COLUMN rag_quality_window.tenant IS 'The tenant; empty where the audit trail names none.';
COMMENT ON COLUMN rag_quality_window.surface IS 'The surface.';
COMMENT ON COLUMN rag_quality_window.engine IS 'The engine.';
COMMENT ON COLUMN rag_quality_window.judge_model IS 'The judging model; empty for turns that no judge saw.';
COMMENT ON COLUMN rag_quality_window.prompt_version IS 'The version of the judge prompt; empty for turns that no judge saw.';
COMMENT ON COLUMN rag_quality_window.turns IS 'Synthesis calls.';
COMMENT ON COLUMN rag_quality_window.graded IS 'Turns with judge_status ok.';
COMMENT ON COLUMN rag_quality_window.pending IS 'Turns that wait for their first judge call.';
COMMENT ON COLUMN rag_quality_window.errors IS 'Turns whose judge call gave no scores and is tried again.';
COMMENT ON COLUMN rag_quality_window.failed IS 'Turns whose attempts are used up.';
COMMENT ON COLUMN rag_quality_window.skipped IS 'Turns that cannot be judged.';
COMMENT ON COLUMN rag_quality_window.disabled IS 'Turns measured while the judge is off.';
COMMENT ON COLUMN rag_quality_window.had_context IS 'Turns with a retrieved context.';
COMMENT ON COLUMN rag_quality_window.refused IS 'Turns answered with an honest refusal.';
COMMENT ON COLUMN rag_quality_window.truncated IS 'Turns whose answer was cut by its length limit.';
COMMENT ON COLUMN rag_quality_window.faithfulness_n IS 'Turns with a faithfulness.';
COMMENT ON COLUMN rag_quality_window.faithfulness_sum IS 'Sum of the faithfulness.';
COMMENT ON COLUMN rag_quality_window.faithfulness_sum_sq IS 'Sum of the squared faithfulness.';
COMMENT ON COLUMN rag_quality_window.answer_relevance_n IS 'Turns with an answer relevance.';
COMMENT ON COLUMN rag_quality_window.answer_relevance_sum IS 'Sum of the answer relevance.';
COMMENT ON COLUMN rag_quality_window.answer_relevance_sum_sq IS 'Sum of the squared answer relevance.';
COMMENT ON COLUMN rag_quality_window.answer_relevance_hist IS '101 counts, as faithfulness_hist.';
COMMENT ON COLUMN rag_quality_window.context_relevance_n IS 'Turns with a context relevance.';
COMMENT ON COLUMN rag_quality_window.context_relevance_sum IS 'Sum of the context relevance.';
COMMENT ON COLUMN rag_quality_window.context_relevance_sum_sq IS 'Sum of the squared context relevance.';
COMMENT ON COLUMN rag_quality_window.context_relevance_hist IS '101 counts, as faithfulness_hist.';
COMMENT ON COLUMN rag_quality_window.top_score_n IS 'Turns with a top retrieval score.';
COMMENT ON COLUMN rag_quality_window.top_score_sum IS 'Sum of the top retrieval scores.';
COMMENT ON COLUMN rag_quality_window.context_chars_sum IS 'Characters of all contexts.';
COMMENT ON COLUMN rag_quality_window.answer_chars_sum IS 'Characters of all answers.';
COMMENT ON COLUMN rag_quality_window.judge_calls IS 'Judge calls made, outages included.';
COMMENT ON COLUMN rag_quality_window.prompt_tokens IS 'Prompt tokens that the judge reported.';
COMMENT ON COLUMN rag_quality_window.completion_tokens IS 'Completion tokens that the judge reported.';
COMMENT ON COLUMN rag_quality_window.judge_ms IS 'Milliseconds of the judge calls.';

COMMENT ON COLUMN rag_call_window.hour IS 'Start of the UTC hour.';
COMMENT ON COLUMN rag_call_window.tenant IS 'The tenant; empty where the audit trail names none.';
COMMENT ON COLUMN rag_call_window.surface IS 'The surface.';
COMMENT ON COLUMN rag_call_window.engine IS 'The engine.';
COMMENT ON COLUMN rag_call_window.examined IS 'Calls examined.';
COMMENT ON COLUMN rag_call_window.synthesis IS 'Calls recognised as a turn and kept.';
COMMENT ON COLUMN rag_call_window.sampled_out IS 'Calls recognised as a turn and left out by sample_rate.';
COMMENT ON COLUMN rag_call_window.other IS 'Calls that are no turn.';
COMMENT ON COLUMN rag_call_window.self IS 'Calls of this pipeline itself.';
COMMENT ON COLUMN rag_call_window.unreadable IS 'Calls whose request could not be read.';
COMMENT ON COLUMN rag_call_window.parse_status_counts IS 'Synthesis calls by parse_status.';

COMMENT ON COLUMN rag_stale_hour.hour IS 'Start of the UTC hour.';
COMMENT ON COLUMN rag_stale_hour.stage IS 'publish: published rows lag behind; aggregate: windows lag behind.';
COMMENT ON COLUMN rag_stale_hour.touched_at IS 'When the hour last changed.';

COMMENT ON COLUMN kb_access_record.access_id IS 'A number of its own.';
COMMENT ON COLUMN kb_access_record.actor IS 'The part of the pipeline that read.';
COMMENT ON COLUMN kb_access_record.database_role IS 'The database role it read under.';
COMMENT ON COLUMN kb_access_record.application_name IS 'The application_name of its connection.';
COMMENT ON COLUMN kb_access_record.purpose IS 'grading, forecast or explain.';
COMMENT ON COLUMN kb_access_record.run_id IS 'The Dagster run; null outside one.';
COMMENT ON COLUMN kb_access_record.ts_from IS 'Completion of the oldest call read.';
COMMENT ON COLUMN kb_access_record.ts_to IS 'Completion of the newest call read.';
COMMENT ON COLUMN kb_access_record.bodies IS 'Calls whose stored bodies were read.';
COMMENT ON COLUMN kb_access_record.body_bytes IS 'Stored bytes read.';
COMMENT ON COLUMN kb_access_record.read_at IS 'When it was read.';

COMMENT ON COLUMN kb_activation.feature IS 'The feature, for example rag_quality.';
COMMENT ON COLUMN kb_activation.start_at IS 'The instant from which it works unasked.';
COMMENT ON COLUMN kb_activation.activated_at IS 'When it was first switched on.';

-- Made last, so that it takes the comments along.
CREATE TABLE rag_quality_day (LIKE rag_quality_window INCLUDING COMMENTS);
ALTER TABLE rag_quality_day RENAME COLUMN hour TO day;
ALTER TABLE rag_quality_day ALTER COLUMN day TYPE date USING (day AT TIME ZONE 'UTC')::date;
-- PostgreSQL 18 copies the names of NOT NULL constraints too; set anew, they are named after this table.
DO $$
DECLARE
  column_name text;
BEGIN
  FOR column_name IN
    SELECT attname FROM pg_attribute WHERE attrelid = 'rag_quality_day'::regclass AND attnum > 0 ORDER BY attnum
  LOOP
    EXECUTE format('ALTER TABLE rag_quality_day ALTER COLUMN %I DROP NOT NULL', column_name);
    EXECUTE format('ALTER TABLE rag_quality_day ALTER COLUMN %I SET NOT NULL', column_name);
  END LOOP;
END $$;
ALTER TABLE rag_quality_day ADD PRIMARY KEY (day, tenant, surface, engine, judge_model, prompt_version);
ALTER TABLE rag_quality_day ADD CONSTRAINT rag_quality_day_adds_up
  CHECK (turns = graded + pending + errors + failed + skipped + disabled);
COMMENT ON TABLE rag_quality_day IS 'The sum of the hours of one UTC day.';
COMMENT ON COLUMN rag_quality_day.day IS 'The UTC day.';
