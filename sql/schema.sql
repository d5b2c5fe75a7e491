-- The schema that all migrations together make. Written by `make schema`; do not edit.
-- For reading and comparing: `kb-pipeline migrate` builds a database from sql/migrations.

CREATE FUNCTION public.kb_add_up_retrieval_day(at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
  WITH hours AS (
    SELECT * FROM kb_retrieval_window
    WHERE hour >= (at AT TIME ZONE 'UTC')::date::timestamp AT TIME ZONE 'UTC'
      AND hour < ((at AT TIME ZONE 'UTC')::date + 1)::timestamp AT TIME ZONE 'UTC'
  ), score AS (
    SELECT org_id, specialist_id, engine, array_agg(n ORDER BY bin) AS counts
    FROM (SELECT org_id, specialist_id, engine, bin, sum(n)::int AS n
          FROM hours, unnest(top_score_hist) WITH ORDINALITY AS bins(n, bin) GROUP BY 1, 2, 3, 4) AS each
    GROUP BY 1, 2, 3
  ), latency AS (
    SELECT org_id, specialist_id, engine, array_agg(n ORDER BY bin) AS counts
    FROM (SELECT org_id, specialist_id, engine, bin, sum(n)::int AS n
          FROM hours, unnest(latency_hist) WITH ORDINALITY AS bins(n, bin) GROUP BY 1, 2, 3, 4) AS each
    GROUP BY 1, 2, 3
  ), fresh AS (
    SELECT
      org_id, specialist_id, engine, sum(retrievals) AS retrievals, sum(shadows) AS shadows, sum(empty) AS empty,
      sum(degraded) AS degraded, sum(with_message) AS with_message, sum(result_count_sum) AS result_count_sum,
      sum(top_score_n) AS top_score_n, sum(top_score_sum::numeric)::float8 AS top_score_sum,
      sum(latency_n) AS latency_n, sum(latency_sum) AS latency_sum
    FROM hours
    GROUP BY 1, 2, 3
  ), gone AS (
    DELETE FROM kb_retrieval_day AS d
    WHERE d.day = (at AT TIME ZONE 'UTC')::date
      AND NOT EXISTS (
        SELECT FROM fresh AS f WHERE (f.org_id, f.specialist_id, f.engine) = (d.org_id, d.specialist_id, d.engine))
  )
  INSERT INTO kb_retrieval_day AS d
  SELECT
    (at AT TIME ZONE 'UTC')::date, org_id, specialist_id, engine, f.retrievals, f.shadows, f.empty, f.degraded,
    f.with_message, f.result_count_sum, f.top_score_n, f.top_score_sum, s.counts, f.latency_n, f.latency_sum, l.counts
  FROM fresh AS f
  JOIN score AS s USING (org_id, specialist_id, engine)
  JOIN latency AS l USING (org_id, specialist_id, engine)
  ON CONFLICT (day, org_id, specialist_id, engine) DO UPDATE SET
    retrievals = excluded.retrievals, shadows = excluded.shadows, empty = excluded.empty,
    degraded = excluded.degraded, with_message = excluded.with_message,
    result_count_sum = excluded.result_count_sum, top_score_n = excluded.top_score_n,
    top_score_sum = excluded.top_score_sum, top_score_hist = excluded.top_score_hist,
    latency_n = excluded.latency_n, latency_sum = excluded.latency_sum, latency_hist = excluded.latency_hist
  WHERE d.* IS DISTINCT FROM excluded.*;
END $$;

COMMENT ON FUNCTION public.kb_add_up_retrieval_day(at timestamp with time zone) IS 'Makes the rows of kb_retrieval_day of the UTC day that holds an instant.';

CREATE FUNCTION public.kb_claim_is_live(claim_lock integer, lease_until timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT lease_until > clock_timestamp() AND EXISTS (
    SELECT 1 FROM pg_locks AS l
    WHERE l.locktype = 'advisory' AND l.classid = 1801606505 AND l.objid = claim_lock::oid AND l.objsubid = 2
      AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
$$;

COMMENT ON FUNCTION public.kb_claim_is_live(claim_lock integer, lease_until timestamp with time zone) IS 'Whether a claim still holds: its lease has not ended and its run is connected. A killed run loses its claims at once.';

CREATE FUNCTION public.kb_dense_histogram(bins integer[], counts bigint[]) RETURNS integer[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT array_agg(coalesce(c.n, 0)::integer ORDER BY b.bin)
  FROM generate_series(0, 100) AS b(bin)
  LEFT JOIN unnest(bins, counts) AS c(bin, n) ON c.bin = b.bin
$$;

COMMENT ON FUNCTION public.kb_dense_histogram(bins integer[], counts bigint[]) IS 'The 101 counts of a score histogram from the bins that occur; bin i holds [i/100, (i+1)/100), bin 100 exactly 1.';

CREATE FUNCTION public.kb_disagreement(faithfulness double precision, support_score double precision, doubt double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT CASE
    WHEN faithfulness IS NULL OR support_score IS NULL THEN NULL
    ELSE greatest(least(faithfulness, doubt), least(1 - faithfulness, support_score * (1 - doubt)))
  END
$$;

COMMENT ON FUNCTION public.kb_disagreement(faithfulness double precision, support_score double precision, doubt double precision) IS 'How strongly judge and second opinion contradict each other, in [0, 1]: the judge trusts what is doubted, or distrusts what is all found. Null where either has no score.';

CREATE FUNCTION public.kb_ensure_rag_quality_partition(at_instant timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

COMMENT ON FUNCTION public.kb_ensure_rag_quality_partition(at_instant timestamp with time zone) IS 'Makes the monthly partition of rag_quality that holds the instant; true when it was made now.';

CREATE FUNCTION public.kb_is_judgeable(context_chars integer, answer_chars integer) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT context_chars <= 2000000 AND answer_chars <= 200000
$$;

COMMENT ON FUNCTION public.kb_is_judgeable(context_chars integer, answer_chars integer) IS 'Whether a turn is short enough to be put to any judge, if need be in parts.';

CREATE FUNCTION public.kb_judge_calls(chars integer, answer_chars integer, judge_chars integer) RETURNS integer
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT CASE WHEN chars <= judge_chars THEN 1 ELSE least(8, 1 + 2 * answer_chars / greatest(judge_chars, 1)) END
$$;

COMMENT ON FUNCTION public.kb_judge_calls(chars integer, answer_chars integer, judge_chars integer) IS 'About how many calls a turn takes of a judge with room for so many characters: each part is half answer at most.';

CREATE FUNCTION public.kb_list_facts(retrieved jsonb, candidate_pool jsonb, OUT hits bigint, OUT malformed_hits bigint, OUT repeated_hits bigint, OUT hits_out_of_order bigint, OUT candidates bigint, OUT malformed_candidates bigint) RETURNS record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  SELECT r.hits, r.malformed_hits, r.repeated_hits, r.hits_out_of_order, c.candidates, c.malformed_candidates
  FROM (
    SELECT
      count(*) AS hits,
      count(*) FILTER (WHERE is_malformed) AS malformed_hits,
      count(*) - count(DISTINCT (doc_id, chunk_id)) AS repeated_hits,
      count(*) FILTER (WHERE rank < rank_before) AS hits_out_of_order
    FROM (
      SELECT
        f.doc_id, f.chunk_id, f.rank,
        lag(f.rank) OVER (ORDER BY place) AS rank_before,
        coalesce(f.doc_id, '') = '' OR f.rank IS NULL OR f.rank < 1 OR f.rank <> floor(f.rank)
          OR jsonb_typeof(hit -> 'used_in_final') NOT IN ('boolean', 'null')
          OR jsonb_typeof(hit -> 'score') NOT IN ('number', 'null')
          OR jsonb_typeof(hit -> 'bm25_score') NOT IN ('number', 'null')
          OR jsonb_typeof(hit -> 'vector_similarity') NOT IN ('number', 'null')
          OR jsonb_typeof(hit -> 'rerank_score') NOT IN ('number', 'null')
          OR jsonb_typeof(hit -> 'pre_rerank_rank') NOT IN ('number', 'null') AS is_malformed
      FROM jsonb_array_elements(CASE WHEN jsonb_typeof(kb_list_facts.retrieved) = 'array' THEN kb_list_facts.retrieved END)
        WITH ORDINALITY AS h(hit, place)
      CROSS JOIN LATERAL (
        SELECT
          CASE WHEN jsonb_typeof(hit -> 'doc_id') = 'string' THEN hit ->> 'doc_id' END AS doc_id,
          hit ->> 'chunk_id' AS chunk_id,
          CASE WHEN jsonb_typeof(hit -> 'rank') = 'number' THEN (hit ->> 'rank')::numeric END AS rank
      ) AS f
    ) AS each
  ) AS r
  CROSS JOIN (
    SELECT count(*) AS candidates, count(*) FILTER (
      WHERE jsonb_typeof(hit -> 'doc_id') IS DISTINCT FROM 'string' OR hit ->> 'doc_id' = ''
        OR CASE WHEN jsonb_typeof(hit -> 'pre_rank') = 'number' THEN (hit ->> 'pre_rank')::numeric < 1 ELSE true END
    ) AS malformed_candidates
    FROM jsonb_array_elements(CASE WHEN jsonb_typeof(kb_list_facts.candidate_pool) = 'array' THEN kb_list_facts.candidate_pool END) AS hit
  ) AS c
$$;

COMMENT ON FUNCTION public.kb_list_facts(retrieved jsonb, candidate_pool jsonb, OUT hits bigint, OUT malformed_hits bigint, OUT repeated_hits bigint, OUT hits_out_of_order bigint, OUT candidates bigint, OUT malformed_candidates bigint) IS 'What a rule about the lists of a retrieval event needs: how many elements, and how many of them are malformed, repeated or out of order. A list that is no array has none.';

CREATE TABLE public.kb_access_record (
    access_id bigint NOT NULL,
    actor text NOT NULL,
    database_role text DEFAULT CURRENT_USER NOT NULL,
    application_name text DEFAULT current_setting('application_name'::text) NOT NULL,
    purpose text NOT NULL,
    run_id text,
    ts_from timestamp with time zone,
    ts_to timestamp with time zone,
    bodies integer NOT NULL,
    body_bytes bigint NOT NULL,
    read_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE public.kb_access_record IS 'Who read stored bodies, when and how many: one row per batch.';

COMMENT ON COLUMN public.kb_access_record.access_id IS 'A number of its own.';

COMMENT ON COLUMN public.kb_access_record.actor IS 'The part of the pipeline that read.';

COMMENT ON COLUMN public.kb_access_record.database_role IS 'The database role it read under.';

COMMENT ON COLUMN public.kb_access_record.application_name IS 'The application_name of its connection.';

COMMENT ON COLUMN public.kb_access_record.purpose IS 'grading, forecast or explain.';

COMMENT ON COLUMN public.kb_access_record.run_id IS 'The Dagster run; null outside one.';

COMMENT ON COLUMN public.kb_access_record.ts_from IS 'Completion of the oldest call read.';

COMMENT ON COLUMN public.kb_access_record.ts_to IS 'Completion of the newest call read.';

COMMENT ON COLUMN public.kb_access_record.bodies IS 'Calls whose stored bodies were read.';

COMMENT ON COLUMN public.kb_access_record.body_bytes IS 'Stored bytes read.';

COMMENT ON COLUMN public.kb_access_record.read_at IS 'When it was read.';

ALTER TABLE public.kb_access_record ALTER COLUMN access_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.kb_access_record_access_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.kb_activation (
    feature text NOT NULL,
    start_at timestamp with time zone NOT NULL,
    activated_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE public.kb_activation IS 'When a feature was first switched on: with start_at "now", nothing older is graded unless asked.';

COMMENT ON COLUMN public.kb_activation.feature IS 'The feature, for example rag_quality.';

COMMENT ON COLUMN public.kb_activation.start_at IS 'The instant from which it works unasked.';

COMMENT ON COLUMN public.kb_activation.activated_at IS 'When it was first switched on.';

CREATE TABLE public.kb_alert_destination (
    destination text NOT NULL,
    next_try_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    reason text,
    last_confirmed_at timestamp with time zone,
    CONSTRAINT kb_alert_destination_failures_check CHECK ((failures >= 0))
);

COMMENT ON TABLE public.kb_alert_destination IS 'How delivery to a destination stands: it is the destination that backs off, never a single alert.';

COMMENT ON COLUMN public.kb_alert_destination.destination IS 'keep, webhook, or apprise-1, apprise-2, … by place in the configuration.';

COMMENT ON COLUMN public.kb_alert_destination.next_try_at IS 'Nothing is sent before; null when nothing is held.';

COMMENT ON COLUMN public.kb_alert_destination.failures IS 'Failures in a row.';

COMMENT ON COLUMN public.kb_alert_destination.reason IS 'What the last failure was; null when all is well.';

COMMENT ON COLUMN public.kb_alert_destination.last_confirmed_at IS 'When an alert was last confirmed.';

CREATE TABLE public.kb_alert_outbox (
    destination text NOT NULL,
    fingerprint text NOT NULL,
    kb_seq bigint NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    payload jsonb NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    reason text,
    queued_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    settled_at timestamp with time zone,
    CONSTRAINT kb_alert_outbox_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT kb_alert_outbox_dead_has_a_reason CHECK (((state <> 'dead'::text) OR (reason IS NOT NULL))),
    CONSTRAINT kb_alert_outbox_destination_check CHECK ((destination <> ''::text)),
    CONSTRAINT kb_alert_outbox_kb_seq_check CHECK ((kb_seq > 0)),
    CONSTRAINT kb_alert_outbox_payload_check CHECK ((jsonb_typeof(payload) = 'object'::text)),
    CONSTRAINT kb_alert_outbox_settled_has_a_time CHECK (((state = ANY (ARRAY['confirmed'::text, 'dead'::text])) = (settled_at IS NOT NULL))),
    CONSTRAINT kb_alert_outbox_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'sent'::text, 'confirmed'::text, 'dead'::text])))
);

COMMENT ON TABLE public.kb_alert_outbox IS 'What is to be delivered where: written with the state that it tells of, in one transaction, and delivered by another step, per fingerprint in the order of kb_seq.';

COMMENT ON COLUMN public.kb_alert_outbox.destination IS 'keep, webhook, or apprise-1, apprise-2, … by place in the configuration.';

COMMENT ON COLUMN public.kb_alert_outbox.fingerprint IS 'The alert.';

COMMENT ON COLUMN public.kb_alert_outbox.kb_seq IS 'Its place among the notices of the fingerprint.';

COMMENT ON COLUMN public.kb_alert_outbox.state IS 'pending; sent (accepted, not confirmed yet); confirmed; dead (refused for good).';

COMMENT ON COLUMN public.kb_alert_outbox.payload IS 'The alert as it goes out.';

COMMENT ON COLUMN public.kb_alert_outbox.attempts IS 'How often it was sent.';

COMMENT ON COLUMN public.kb_alert_outbox.reason IS 'Why it is dead, or why the last try failed.';

COMMENT ON COLUMN public.kb_alert_outbox.queued_at IS 'When it was decided.';

COMMENT ON COLUMN public.kb_alert_outbox.sent_at IS 'When it was last sent.';

COMMENT ON COLUMN public.kb_alert_outbox.settled_at IS 'When it was confirmed or given up.';

CREATE TABLE public.kb_alert_silence (
    silence_id bigint NOT NULL,
    pattern text NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    author text NOT NULL,
    reason text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kb_alert_silence_author_check CHECK ((author <> ''::text)),
    CONSTRAINT kb_alert_silence_ends_after_it_starts CHECK ((ends_at >= starts_at)),
    CONSTRAINT kb_alert_silence_pattern_check CHECK (((pattern <> ''::text) AND (char_length(pattern) <= 256))),
    CONSTRAINT kb_alert_silence_reason_check CHECK ((reason <> ''::text))
);

COMMENT ON TABLE public.kb_alert_silence IS 'Who did not want to be told of what, from when to when, and why. States go on meanwhile.';

COMMENT ON COLUMN public.kb_alert_silence.silence_id IS 'A number of its own.';

COMMENT ON COLUMN public.kb_alert_silence.pattern IS 'A fingerprint, a rule, or the beginning of fingerprints with a final *.';

COMMENT ON COLUMN public.kb_alert_silence.starts_at IS 'From when.';

COMMENT ON COLUMN public.kb_alert_silence.ends_at IS 'Until when; ending a silence early moves it.';

COMMENT ON COLUMN public.kb_alert_silence.author IS 'Who said so.';

COMMENT ON COLUMN public.kb_alert_silence.reason IS 'Why.';

COMMENT ON COLUMN public.kb_alert_silence.created_at IS 'When the row was written.';

ALTER TABLE public.kb_alert_silence ALTER COLUMN silence_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.kb_alert_silence_silence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.kb_alert_state (
    fingerprint text NOT NULL,
    rule text NOT NULL,
    metric text NOT NULL,
    subject text[] NOT NULL,
    status text NOT NULL,
    severity text,
    since timestamp with time zone NOT NULL,
    window_end timestamp with time zone,
    sentence text NOT NULL,
    reading jsonb NOT NULL,
    memory jsonb NOT NULL,
    before jsonb NOT NULL,
    inhibited_by text,
    is_silenced boolean DEFAULT false NOT NULL,
    notice jsonb,
    kb_seq bigint DEFAULT 0 NOT NULL,
    version bigint NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kb_alert_state_active_has_a_severity CHECK (((status = ANY (ARRAY['firing'::text, 'recovering'::text])) = (severity IS NOT NULL))),
    CONSTRAINT kb_alert_state_before_check CHECK ((jsonb_typeof(before) = 'object'::text)),
    CONSTRAINT kb_alert_state_fingerprint_check CHECK (((char_length(fingerprint) >= 1) AND (char_length(fingerprint) <= 255))),
    CONSTRAINT kb_alert_state_kb_seq_check CHECK ((kb_seq >= 0)),
    CONSTRAINT kb_alert_state_memory_check CHECK ((jsonb_typeof(memory) = 'object'::text)),
    CONSTRAINT kb_alert_state_notice_check CHECK ((jsonb_typeof(notice) = 'object'::text)),
    CONSTRAINT kb_alert_state_reading_check CHECK ((jsonb_typeof(reading) = 'object'::text)),
    CONSTRAINT kb_alert_state_severity_check CHECK ((severity = ANY (ARRAY['critical'::text, 'high'::text, 'warning'::text, 'info'::text, 'low'::text]))),
    CONSTRAINT kb_alert_state_status_check CHECK ((status = ANY (ARRAY['ok'::text, 'pending'::text, 'firing'::text, 'recovering'::text, 'no_data'::text]))),
    CONSTRAINT kb_alert_state_subject_check CHECK ((cardinality(subject) >= 1)),
    CONSTRAINT kb_alert_state_told_has_a_number CHECK (((notice IS NOT NULL) = (kb_seq > 0))),
    CONSTRAINT kb_alert_state_version_check CHECK ((version >= 1))
);

COMMENT ON TABLE public.kb_alert_state IS 'Where each alert rule stands with each subject. Changed by compare-and-set on version, together with its flip and its outbox rows. Holds numbers and names, no text of a citizen.';

COMMENT ON COLUMN public.kb_alert_state.fingerprint IS 'id|metric|subject, cleaned: the same for as long as it is the same thing.';

COMMENT ON COLUMN public.kb_alert_state.rule IS 'The rule.';

COMMENT ON COLUMN public.kb_alert_state.metric IS 'What the rule looks at.';

COMMENT ON COLUMN public.kb_alert_state.subject IS 'Environment, then tenant, surface and engine, or what the rule speaks of, as they are named at their source.';

COMMENT ON COLUMN public.kb_alert_state.status IS 'ok, pending (in breach, not often enough), firing, recovering (good, not long enough) or no_data.';

COMMENT ON COLUMN public.kb_alert_state.severity IS 'How bad it is; set while it fires or recovers.';

COMMENT ON COLUMN public.kb_alert_state.since IS 'Since when the status is what it is.';

COMMENT ON COLUMN public.kb_alert_state.window_end IS 'End of the newest window that was judged; an older one is closed. Null while another alert has held the rule from the first.';

COMMENT ON COLUMN public.kb_alert_state.sentence IS 'What the newest reading says, in words.';

COMMENT ON COLUMN public.kb_alert_state.reading IS 'The newest reading: finding, value, bound, threshold, n, window, baseline, coverage.';

COMMENT ON COLUMN public.kb_alert_state.memory IS 'What the rule remembers: evaluations in a row, fires of the last day, what was usual.';

COMMENT ON COLUMN public.kb_alert_state.before IS 'The memory before the newest window: data that comes late is judged from there.';

COMMENT ON COLUMN public.kb_alert_state.inhibited_by IS 'Fingerprint of the alert that holds this rule, or null.';

COMMENT ON COLUMN public.kb_alert_state.is_silenced IS 'Whether a silence covered it at the newest evaluation.';

COMMENT ON COLUMN public.kb_alert_state.notice IS 'What receivers were told last: status, severity, whether it flaps; null before the first time.';

COMMENT ON COLUMN public.kb_alert_state.kb_seq IS 'Number of the last notice of the fingerprint; it never goes back.';

COMMENT ON COLUMN public.kb_alert_state.version IS 'Number of the last change of the row.';

COMMENT ON COLUMN public.kb_alert_state.updated_at IS 'When the row last changed.';

CREATE TABLE public.kb_alert_transition (
    transition_id bigint NOT NULL,
    fingerprint text NOT NULL,
    rule text NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    severity text,
    reason text NOT NULL,
    kb_seq bigint,
    window_end timestamp with time zone,
    sentence text NOT NULL,
    reading jsonb NOT NULL,
    happened_at timestamp with time zone NOT NULL,
    CONSTRAINT kb_alert_transition_reading_check CHECK ((jsonb_typeof(reading) = 'object'::text))
);

COMMENT ON TABLE public.kb_alert_transition IS 'Every flip of a state, until its retention: rows are added and never changed.';

COMMENT ON COLUMN public.kb_alert_transition.transition_id IS 'A number of its own.';

COMMENT ON COLUMN public.kb_alert_transition.fingerprint IS 'The state that flipped.';

COMMENT ON COLUMN public.kb_alert_transition.rule IS 'Its rule.';

COMMENT ON COLUMN public.kb_alert_transition.from_status IS 'Where it stood.';

COMMENT ON COLUMN public.kb_alert_transition.to_status IS 'Where it stands since.';

COMMENT ON COLUMN public.kb_alert_transition.severity IS 'How bad it is, where it fires or resolves.';

COMMENT ON COLUMN public.kb_alert_transition.reason IS 'Why: fired, escalated, flapping, resolved, silenced, silence_ended, or the new status.';

COMMENT ON COLUMN public.kb_alert_transition.kb_seq IS 'Number of the notice that went out with it; null where nobody was told.';

COMMENT ON COLUMN public.kb_alert_transition.window_end IS 'End of the window that decided.';

COMMENT ON COLUMN public.kb_alert_transition.sentence IS 'The numbers that decided, in words.';

COMMENT ON COLUMN public.kb_alert_transition.reading IS 'The numbers that decided.';

COMMENT ON COLUMN public.kb_alert_transition.happened_at IS 'When it was decided.';

ALTER TABLE public.kb_alert_transition ALTER COLUMN transition_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.kb_alert_transition_transition_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.kb_draft_outcome (
    message_id uuid NOT NULL,
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    event_id uuid,
    trace_id text,
    correction_id uuid,
    outcome text NOT NULL,
    drafted_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    decision_s double precision,
    kept_sentences integer NOT NULL,
    new_sentences integer NOT NULL,
    removed_sentences integer NOT NULL,
    similarity double precision,
    wrong_source boolean DEFAULT false NOT NULL,
    suspect boolean DEFAULT false NOT NULL,
    rephrased boolean DEFAULT false NOT NULL,
    source_state text NOT NULL,
    rule_version text NOT NULL,
    harvested_state text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kb_draft_outcome_decided_unless_pending CHECK (((outcome = 'pending'::text) = (decided_at IS NULL))),
    CONSTRAINT kb_draft_outcome_kept_sentences_check CHECK ((kept_sentences >= 0)),
    CONSTRAINT kb_draft_outcome_new_sentences_check CHECK ((new_sentences >= 0)),
    CONSTRAINT kb_draft_outcome_outcome_check CHECK ((outcome = ANY (ARRAY['accepted'::text, 'edited_light'::text, 'edited_heavy'::text, 'rejected'::text, 'pending'::text, 'unreviewed'::text]))),
    CONSTRAINT kb_draft_outcome_removed_sentences_check CHECK ((removed_sentences >= 0)),
    CONSTRAINT kb_draft_outcome_similarity_check CHECK (((similarity >= (0)::double precision) AND (similarity <= (1)::double precision)))
);

COMMENT ON TABLE public.kb_draft_outcome IS 'What became of each draft, derived by joining messages, the experts'' queue, corrections and retrieval events; counts, no text. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_draft_outcome.message_id IS 'The draft.';

COMMENT ON COLUMN public.kb_draft_outcome.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_draft_outcome.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_draft_outcome.conversation_id IS 'The thread.';

COMMENT ON COLUMN public.kb_draft_outcome.event_id IS 'The retrieval that served the draft; null where none was recorded.';

COMMENT ON COLUMN public.kb_draft_outcome.trace_id IS 'Joins with the audited call that wrote the draft: so experts calibrate the judge.';

COMMENT ON COLUMN public.kb_draft_outcome.correction_id IS 'The newest correction of the draft.';

COMMENT ON COLUMN public.kb_draft_outcome.outcome IS 'accepted: sent as it was; edited_light: nothing that asserts something is new or gone; edited_heavy: something is; rejected; pending: no decision; unreviewed: decided within two seconds.';

COMMENT ON COLUMN public.kb_draft_outcome.drafted_at IS 'When the draft was made.';

COMMENT ON COLUMN public.kb_draft_outcome.decided_at IS 'When the expert decided; the hour of the partition. Null while pending.';

COMMENT ON COLUMN public.kb_draft_outcome.decision_s IS 'Seconds between opening and deciding; null where the source does not say.';

COMMENT ON COLUMN public.kb_draft_outcome.kept_sentences IS 'Sentences of the draft that stand in the final text.';

COMMENT ON COLUMN public.kb_draft_outcome.new_sentences IS 'Sentences of the final text that assert something and are not in the draft.';

COMMENT ON COLUMN public.kb_draft_outcome.removed_sentences IS 'Sentences of the draft that assert something and are not in the final text.';

COMMENT ON COLUMN public.kb_draft_outcome.similarity IS 'Similarity of draft and final text, a fraction; for reading only: no rule uses it, because a changed number is .98 similar.';

COMMENT ON COLUMN public.kb_draft_outcome.wrong_source IS 'Rejected, and the reason names its sources.';

COMMENT ON COLUMN public.kb_draft_outcome.suspect IS 'The retrieval may be bad: a heavy edit or a rejection.';

COMMENT ON COLUMN public.kb_draft_outcome.rephrased IS 'The client asked again in other words after this answer, and was retrieved for again.';

COMMENT ON COLUMN public.kb_draft_outcome.source_state IS 'Fingerprint of what the source said; another one makes the row be derived again.';

COMMENT ON COLUMN public.kb_draft_outcome.rule_version IS 'Which rules derived the row.';

COMMENT ON COLUMN public.kb_draft_outcome.harvested_state IS 'source_state and rules that its evidence was taken from; null until then.';

COMMENT ON COLUMN public.kb_draft_outcome.created_at IS 'When the row was first derived.';

COMMENT ON COLUMN public.kb_draft_outcome.updated_at IS 'When the row last changed.';

CREATE TABLE public.kb_evidence (
    evidence_id bigint NOT NULL,
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    query_sha text NOT NULL,
    doc_id text NOT NULL,
    chunk_id text,
    kind text NOT NULL,
    weight double precision NOT NULL,
    conversation_id uuid,
    event_id uuid,
    message_id uuid,
    correction_id uuid,
    search_event_id uuid,
    document_from timestamp with time zone,
    observed_at timestamp with time zone NOT NULL,
    facts jsonb DEFAULT '{}'::jsonb NOT NULL,
    rule_version text NOT NULL,
    author text,
    reason text,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    superseded_at timestamp with time zone,
    CONSTRAINT kb_evidence_doc_id_check CHECK ((doc_id <> ''::text)),
    CONSTRAINT kb_evidence_facts_check CHECK ((jsonb_typeof(facts) = 'object'::text)),
    CONSTRAINT kb_evidence_kind_check CHECK ((kind = ANY (ARRAY['cited'::text, 'supports_new'::text, 'light_edit'::text, 'accepted'::text, 'kept_only'::text, 'clicked'::text, 'removed_only'::text, 'wrong_source'::text, 'settled'::text]))),
    CONSTRAINT kb_evidence_query_sha_check CHECK (((query_sha ~ '^[0-9a-f]+$'::text) AND (char_length(query_sha) = 64))),
    CONSTRAINT kb_evidence_settled_by_somebody CHECK (((kind <> 'settled'::text) OR ((author IS NOT NULL) AND (author <> ''::text) AND (reason IS NOT NULL) AND (reason <> ''::text)))),
    CONSTRAINT kb_evidence_weight_check CHECK (((weight >= ('-1'::integer)::double precision) AND (weight <= (1)::double precision) AND (weight <> (0)::double precision)))
);

COMMENT ON TABLE public.kb_evidence IS 'Every observation for or against a document of a query, appended; a row is never changed but for superseded_at, set when its draft or search is read anew. No text. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_evidence.evidence_id IS 'The number of the observation.';

COMMENT ON COLUMN public.kb_evidence.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_evidence.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_evidence.query_sha IS 'The query, as in kb_query.';

COMMENT ON COLUMN public.kb_evidence.doc_id IS 'The document it speaks of.';

COMMENT ON COLUMN public.kb_evidence.chunk_id IS 'The chunk of it that decided; null where none did.';

COMMENT ON COLUMN public.kb_evidence.kind IS 'The rule that made it: cited, supports_new, light_edit, accepted, kept_only, clicked, removed_only, wrong_source, settled.';

COMMENT ON COLUMN public.kb_evidence.weight IS 'How much it says: positive for, negative against.';

COMMENT ON COLUMN public.kb_evidence.conversation_id IS 'One vote per conversation and polarity.';

COMMENT ON COLUMN public.kb_evidence.event_id IS 'The retrieval it was seen at.';

COMMENT ON COLUMN public.kb_evidence.message_id IS 'The draft it was seen at.';

COMMENT ON COLUMN public.kb_evidence.correction_id IS 'The correction it was read from.';

COMMENT ON COLUMN public.kb_evidence.search_event_id IS 'The step of an expert''s search it was read from.';

COMMENT ON COLUMN public.kb_evidence.document_from IS 'Start of the document version it speaks of: a changed document drops its evidence. Null where the knowledge base is not mapped.';

COMMENT ON COLUMN public.kb_evidence.observed_at IS 'When the expert decided; its weight halves every 180 days from then on.';

COMMENT ON COLUMN public.kb_evidence.facts IS 'Counts and scores that explain it; no words of a text.';

COMMENT ON COLUMN public.kb_evidence.rule_version IS 'Which rules made it.';

COMMENT ON COLUMN public.kb_evidence.author IS 'Who settled a conflict.';

COMMENT ON COLUMN public.kb_evidence.reason IS 'Why, in his words.';

COMMENT ON COLUMN public.kb_evidence.recorded_at IS 'When the row was written.';

COMMENT ON COLUMN public.kb_evidence.superseded_at IS 'When it ceased to count, because its draft or search was read anew.';

ALTER TABLE public.kb_evidence ALTER COLUMN evidence_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.kb_evidence_evidence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.kb_retrieval_gap (
    message_id uuid NOT NULL,
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    event_id uuid NOT NULL,
    correction_id uuid,
    query_sha text NOT NULL,
    engine text NOT NULL,
    kind text NOT NULL,
    is_deep boolean DEFAULT false NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    support double precision,
    doc_id text,
    chunk_id text,
    rank integer,
    pool_rank integer,
    statements jsonb DEFAULT '[]'::jsonb NOT NULL,
    subject text,
    source_state text NOT NULL,
    rule_version text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kb_retrieval_gap_kind_check CHECK ((kind = ANY (ARRAY['kb_gap'::text, 'ranking_gap'::text, 'recall_gap'::text, 'generation_gap'::text, 'undetermined'::text, 'none'::text]))),
    CONSTRAINT kb_retrieval_gap_statements_check CHECK ((jsonb_typeof(statements) = 'array'::text)),
    CONSTRAINT kb_retrieval_gap_support_check CHECK (((support >= (0)::double precision) AND (support <= (1)::double precision)))
);

COMMENT ON TABLE public.kb_retrieval_gap IS 'Where the right information went missing, per corrected draft; positions and scores, no text. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_retrieval_gap.message_id IS 'The corrected draft.';

COMMENT ON COLUMN public.kb_retrieval_gap.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_gap.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_gap.conversation_id IS 'The thread.';

COMMENT ON COLUMN public.kb_retrieval_gap.event_id IS 'The retrieval that served the draft.';

COMMENT ON COLUMN public.kb_retrieval_gap.correction_id IS 'The correction that was read.';

COMMENT ON COLUMN public.kb_retrieval_gap.query_sha IS 'The query, as in kb_query.';

COMMENT ON COLUMN public.kb_retrieval_gap.engine IS 'The engine of the retrieval.';

COMMENT ON COLUMN public.kb_retrieval_gap.kind IS 'kb_gap: the knowledge base does not say it; ranking_gap: found, ranked too low or not used; recall_gap: in the knowledge base, not found; generation_gap: found and used; undetermined; none: nothing asserted was added.';

COMMENT ON COLUMN public.kb_retrieval_gap.is_deep IS 'A ranking gap whose document was in the candidate pool only.';

COMMENT ON COLUMN public.kb_retrieval_gap.decided_at IS 'When the expert decided; the hour of the partition.';

COMMENT ON COLUMN public.kb_retrieval_gap.support IS 'How well the knowledge base, as it stood at the retrieval, supports the deciding statement; a fraction.';

COMMENT ON COLUMN public.kb_retrieval_gap.doc_id IS 'The document that supports it best.';

COMMENT ON COLUMN public.kb_retrieval_gap.chunk_id IS 'The chunk of it.';

COMMENT ON COLUMN public.kb_retrieval_gap.rank IS 'Its rank in the results; null where it was not among them.';

COMMENT ON COLUMN public.kb_retrieval_gap.pool_rank IS 'Its rank among the candidates; null where it was not among them.';

COMMENT ON COLUMN public.kb_retrieval_gap.statements IS 'Every statement that was added: position, kind, support, doc_id, chunk_id, rank, pool_rank.';

COMMENT ON COLUMN public.kb_retrieval_gap.subject IS 'What gaps of one kind have in common: the document, or for a kb_gap the query that began it. Null for none and undetermined.';

COMMENT ON COLUMN public.kb_retrieval_gap.source_state IS 'Fingerprint of what it was read from.';

COMMENT ON COLUMN public.kb_retrieval_gap.rule_version IS 'Which rules diagnosed.';

COMMENT ON COLUMN public.kb_retrieval_gap.created_at IS 'When the row was first written.';

COMMENT ON COLUMN public.kb_retrieval_gap.updated_at IS 'When it last changed.';

CREATE VIEW public.kb_gap_task AS
 SELECT org_id,
    specialist_id,
    kind,
    subject,
    (count(DISTINCT conversation_id))::integer AS conversations,
    (count(*))::integer AS gaps,
    min(decided_at) AS first_seen_at,
    max(decided_at) AS last_seen_at,
    (array_agg(message_id ORDER BY decided_at DESC))[1:5] AS examples
   FROM public.kb_retrieval_gap
  WHERE (subject IS NOT NULL)
  GROUP BY org_id, specialist_id, kind, subject
 HAVING (count(DISTINCT conversation_id) >= 2);

COMMENT ON VIEW public.kb_gap_task IS 'What is worth somebody''s work: gaps of one kind and subject from two conversations on. Tenancy: Org x Specialist.';

CREATE TABLE public.kb_ground_truth (
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    query_sha text NOT NULL,
    doc_id text NOT NULL,
    status text NOT NULL,
    grade smallint,
    p double precision NOT NULL,
    positive double precision NOT NULL,
    negative double precision NOT NULL,
    conversations integer NOT NULL,
    evidence_count integer NOT NULL,
    kinds text[] NOT NULL,
    self_made boolean DEFAULT false NOT NULL,
    first_observed_at timestamp with time zone NOT NULL,
    last_observed_at timestamp with time zone NOT NULL,
    as_of timestamp with time zone NOT NULL,
    rule_version text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kb_ground_truth_conversations_check CHECK ((conversations >= 0)),
    CONSTRAINT kb_ground_truth_evidence_count_check CHECK ((evidence_count >= 1)),
    CONSTRAINT kb_ground_truth_grade_check CHECK (((grade >= 0) AND (grade <= 3))),
    CONSTRAINT kb_ground_truth_graded_when_judged CHECK (((status = 'judged'::text) = (grade IS NOT NULL))),
    CONSTRAINT kb_ground_truth_negative_check CHECK ((negative >= (0)::double precision)),
    CONSTRAINT kb_ground_truth_p_check CHECK (((p > (0)::double precision) AND (p < (1)::double precision))),
    CONSTRAINT kb_ground_truth_positive_check CHECK ((positive >= (0)::double precision)),
    CONSTRAINT kb_ground_truth_status_check CHECK ((status = ANY (ARRAY['judged'::text, 'insufficient'::text, 'conflict'::text])))
)
WITH (fillfactor='50');

COMMENT ON TABLE public.kb_ground_truth IS 'One judgment per tenant, query and document: a pure function of the evidence as of as_of. The retrieval harness reads this. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_ground_truth.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_ground_truth.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_ground_truth.query_sha IS 'The query, as in kb_query.';

COMMENT ON COLUMN public.kb_ground_truth.doc_id IS 'The document.';

COMMENT ON COLUMN public.kb_ground_truth.status IS 'judged: has a grade; insufficient: too little evidence; conflict: much for and much against, quarantined for a person.';

COMMENT ON COLUMN public.kb_ground_truth.grade IS '3: cited, corrected to, or positive mass 2 and more; 2: mass 1 and more; 1: less; 0: not relevant. Null unless judged: unjudged is not 0.';

COMMENT ON COLUMN public.kb_ground_truth.p IS '(positive + .1) / (positive + negative + .2).';

COMMENT ON COLUMN public.kb_ground_truth.positive IS 'Decayed mass for it, at most one vote a conversation.';

COMMENT ON COLUMN public.kb_ground_truth.negative IS 'Decayed mass against it, at most one vote a conversation.';

COMMENT ON COLUMN public.kb_ground_truth.conversations IS 'How many conversations it rests on.';

COMMENT ON COLUMN public.kb_ground_truth.evidence_count IS 'How many rows of kb_evidence it rests on.';

COMMENT ON COLUMN public.kb_ground_truth.kinds IS 'Which kinds of evidence.';

COMMENT ON COLUMN public.kb_ground_truth.self_made IS 'The document was written from a correction of this very query; a harness leaves it out.';

COMMENT ON COLUMN public.kb_ground_truth.first_observed_at IS 'The oldest evidence.';

COMMENT ON COLUMN public.kb_ground_truth.last_observed_at IS 'The newest evidence.';

COMMENT ON COLUMN public.kb_ground_truth.as_of IS 'The instant that the decay was computed for.';

COMMENT ON COLUMN public.kb_ground_truth.rule_version IS 'Which rules judged.';

COMMENT ON COLUMN public.kb_ground_truth.created_at IS 'When the judgment first stood.';

COMMENT ON COLUMN public.kb_ground_truth.updated_at IS 'When it last changed.';

CREATE TABLE public.kb_query (
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    query_sha text NOT NULL,
    query text,
    query_preview text,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    text_expired_at timestamp with time zone,
    CONSTRAINT kb_query_expired_has_no_text CHECK (((text_expired_at IS NULL) OR (query IS NULL))),
    CONSTRAINT kb_query_query_preview_check CHECK ((char_length(query_preview) <= 120)),
    CONSTRAINT kb_query_query_sha_check CHECK (((query_sha ~ '^[0-9a-f]+$'::text) AND (char_length(query_sha) = 64)))
);

COMMENT ON TABLE public.kb_query IS 'One row per query of a tenant, however often it was asked: the words behind a query_sha, until they expire; then a tombstone. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_query.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_query.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_query.query_sha IS 'SHA-256 (hex) of the normalised query.';

COMMENT ON COLUMN public.kb_query.query IS 'The query as it was first written; null once it has expired (retention.query_text_days).';

COMMENT ON COLUMN public.kb_query.query_preview IS 'At most 120 characters of it, redacted; expires after retention.preview_days.';

COMMENT ON COLUMN public.kb_query.first_seen_at IS 'When it was first retrieved for.';

COMMENT ON COLUMN public.kb_query.last_seen_at IS 'When it was last retrieved for.';

COMMENT ON COLUMN public.kb_query.text_expired_at IS 'When its words were dropped.';

CREATE TABLE public.kb_retrieval_day (
    day date NOT NULL,
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    engine text NOT NULL,
    retrievals integer NOT NULL,
    shadows integer NOT NULL,
    empty integer NOT NULL,
    degraded integer NOT NULL,
    with_message integer NOT NULL,
    result_count_sum bigint NOT NULL,
    top_score_n integer NOT NULL,
    top_score_sum double precision NOT NULL,
    top_score_hist integer[] NOT NULL,
    latency_n integer NOT NULL,
    latency_sum bigint NOT NULL,
    latency_hist integer[] NOT NULL,
    CONSTRAINT kb_retrieval_day_check CHECK (((empty >= 0) AND (empty <= retrievals))),
    CONSTRAINT kb_retrieval_day_retrievals_check CHECK ((retrievals >= 0))
);

COMMENT ON TABLE public.kb_retrieval_day IS 'The sum of the hours of one UTC day of kb_retrieval_window. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_retrieval_day.day IS 'The UTC day.';

COMMENT ON COLUMN public.kb_retrieval_day.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_day.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_day.engine IS 'The engine.';

COMMENT ON COLUMN public.kb_retrieval_day.retrievals IS 'Retrievals that served somebody; shadow runs are counted apart.';

COMMENT ON COLUMN public.kb_retrieval_day.shadows IS 'Shadow runs; they are in no other column.';

COMMENT ON COLUMN public.kb_retrieval_day.empty IS 'Retrievals without a result.';

COMMENT ON COLUMN public.kb_retrieval_day.degraded IS 'Retrievals with a part of the engine left out.';

COMMENT ON COLUMN public.kb_retrieval_day.with_message IS 'Retrievals whose draft was persisted.';

COMMENT ON COLUMN public.kb_retrieval_day.result_count_sum IS 'Sum of the results.';

COMMENT ON COLUMN public.kb_retrieval_day.top_score_n IS 'Retrievals whose best result has a score.';

COMMENT ON COLUMN public.kb_retrieval_day.top_score_sum IS 'Sum of the best scores.';

COMMENT ON COLUMN public.kb_retrieval_day.top_score_hist IS 'Best scores, in the bins of kb_retrieval_window.';

COMMENT ON COLUMN public.kb_retrieval_day.latency_n IS 'Retrievals with a latency.';

COMMENT ON COLUMN public.kb_retrieval_day.latency_sum IS 'Sum of the latencies in milliseconds.';

COMMENT ON COLUMN public.kb_retrieval_day.latency_hist IS 'Latencies, in the bins of kb_retrieval_window.';

CREATE TABLE public.kb_retrieval_event (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    message_id uuid,
    engine text NOT NULL,
    query text NOT NULL,
    top_k integer NOT NULL,
    result_count integer NOT NULL,
    latency_ms integer,
    retrieved jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    query_rewritten text,
    query_sha text,
    candidate_pool jsonb DEFAULT '[]'::jsonb NOT NULL,
    kb_version text,
    degraded boolean DEFAULT false NOT NULL,
    shadow boolean DEFAULT false NOT NULL,
    trace_id text,
    text_expired_at timestamp with time zone,
    noted_at timestamp with time zone,
    CONSTRAINT kb_retrieval_event_candidate_pool_is_list CHECK (((jsonb_typeof(candidate_pool) = 'array'::text) AND (octet_length((candidate_pool)::text) < 262144))),
    CONSTRAINT kb_retrieval_event_created_at_sane CHECK (((created_at >= '2020-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < (now() + '1 day'::interval)))),
    CONSTRAINT kb_retrieval_event_engine_check CHECK (((engine <> ''::text) AND (char_length(engine) <= 64))),
    CONSTRAINT kb_retrieval_event_kb_version_check CHECK ((char_length(kb_version) <= 200)),
    CONSTRAINT kb_retrieval_event_latency_ms_check CHECK ((latency_ms >= 0)),
    CONSTRAINT kb_retrieval_event_occurred_at_sane CHECK (((occurred_at >= '2020-01-01 00:00:00+00'::timestamp with time zone) AND (occurred_at < (now() + '1 day'::interval)))),
    CONSTRAINT kb_retrieval_event_query_check CHECK ((octet_length(query) <= 8192)),
    CONSTRAINT kb_retrieval_event_query_rewritten_check CHECK ((octet_length(query_rewritten) <= 8192)),
    CONSTRAINT kb_retrieval_event_query_sha_check CHECK (((query_sha ~ '^[0-9a-f]+$'::text) AND (char_length(query_sha) = 64))),
    CONSTRAINT kb_retrieval_event_result_count_check CHECK ((result_count >= 0)),
    CONSTRAINT kb_retrieval_event_result_count_fits CHECK (
CASE
    WHEN (jsonb_typeof(retrieved) = 'array'::text) THEN (result_count >= jsonb_array_length(retrieved))
    ELSE NULL::boolean
END),
    CONSTRAINT kb_retrieval_event_retrieved_is_list CHECK (((jsonb_typeof(retrieved) = 'array'::text) AND (octet_length((retrieved)::text) < 262144))),
    CONSTRAINT kb_retrieval_event_top_k_check CHECK ((top_k >= 0)),
    CONSTRAINT kb_retrieval_event_trace_id_check CHECK ((char_length(trace_id) <= 200))
);

COMMENT ON TABLE public.kb_retrieval_event IS 'One row per retrieval, written by the worker from the queue: what it returned, and the keys that join it with its draft. Tenancy: Org x Specialist; org_id and specialist_id are part of every key that is read.';

COMMENT ON COLUMN public.kb_retrieval_event.id IS 'Made by the producer, so that it deduplicates events without a message.';

COMMENT ON COLUMN public.kb_retrieval_event.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_event.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_event.conversation_id IS 'The thread; always there, also where no draft was persisted.';

COMMENT ON COLUMN public.kb_retrieval_event.message_id IS 'The draft that the retrieval served, at most one event each; null where no draft was persisted.';

COMMENT ON COLUMN public.kb_retrieval_event.engine IS 'The engine whose results this row holds, of the configured list, or other. Before the agent and the application share one retriever the row holds what the application resolved at draft-save, which need not be what the agent read; afterwards they are the same.';

COMMENT ON COLUMN public.kb_retrieval_event.query IS 'What was searched for, as the client wrote it; empty once text_expired_at is set.';

COMMENT ON COLUMN public.kb_retrieval_event.top_k IS 'How many results were asked for.';

COMMENT ON COLUMN public.kb_retrieval_event.result_count IS 'How many came back, computed here; 0 is an empty retrieval.';

COMMENT ON COLUMN public.kb_retrieval_event.latency_ms IS 'How long the retrieval took, in milliseconds.';

COMMENT ON COLUMN public.kb_retrieval_event.retrieved IS 'Results by rank, at most 50: doc_id, chunk_id, rank (from 1), score, bm25_score, vector_similarity, pre_rerank_rank, rerank_score, used_in_final (whether the answer cites it).';

COMMENT ON COLUMN public.kb_retrieval_event.created_at IS 'When the row was written.';

COMMENT ON COLUMN public.kb_retrieval_event.occurred_at IS 'When the retrieval happened, by the producer; the hour of the windows.';

COMMENT ON COLUMN public.kb_retrieval_event.query_rewritten IS 'What the engine was asked instead of query, where the two differ.';

COMMENT ON COLUMN public.kb_retrieval_event.query_sha IS 'SHA-256 (hex) of the normalised query: the key of the query in ground truth. Filled in later where a writer left it null.';

COMMENT ON COLUMN public.kb_retrieval_event.candidate_pool IS 'What was considered before the re-ranker, at most 50: doc_id, chunk_id, pre_rank (from 1).';

COMMENT ON COLUMN public.kb_retrieval_event.kb_version IS 'The version of the knowledge base or its index, as the producer calls it.';

COMMENT ON COLUMN public.kb_retrieval_event.degraded IS 'Whether a part of the engine was left out, for example the re-ranker.';

COMMENT ON COLUMN public.kb_retrieval_event.shadow IS 'Whether nobody saw the results: a trial run beside the serving engine.';

COMMENT ON COLUMN public.kb_retrieval_event.trace_id IS 'Joins with the audited call that wrote the draft.';

COMMENT ON COLUMN public.kb_retrieval_event.text_expired_at IS 'When the query text was dropped, by retention or because the source deleted the message.';

COMMENT ON COLUMN public.kb_retrieval_event.noted_at IS 'When kb_query took note of its query; null until then.';

CREATE TABLE public.kb_retrieval_event_conflict (
    id uuid NOT NULL,
    message_id uuid NOT NULL,
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    event jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kb_retrieval_event_conflict_event_check CHECK (((jsonb_typeof(event) = 'object'::text) AND (octet_length((event)::text) < 524288)))
);

COMMENT ON TABLE public.kb_retrieval_event_conflict IS 'A second, different event of a message that has one: kept, counted, used by nothing. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_retrieval_event_conflict.id IS 'The id that the producer gave the second event.';

COMMENT ON COLUMN public.kb_retrieval_event_conflict.message_id IS 'The message; its first event is in kb_retrieval_event.';

COMMENT ON COLUMN public.kb_retrieval_event_conflict.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_event_conflict.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_event_conflict.event IS 'The second event as a row of kb_retrieval_event would hold it; null once its text has expired.';

COMMENT ON COLUMN public.kb_retrieval_event_conflict.created_at IS 'When it arrived.';

CREATE TABLE public.kb_retrieval_window (
    hour timestamp with time zone NOT NULL,
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    engine text NOT NULL,
    retrievals integer NOT NULL,
    shadows integer DEFAULT 0 NOT NULL,
    empty integer NOT NULL,
    degraded integer DEFAULT 0 NOT NULL,
    with_message integer DEFAULT 0 NOT NULL,
    result_count_sum bigint DEFAULT 0 NOT NULL,
    top_score_n integer DEFAULT 0 NOT NULL,
    top_score_sum double precision DEFAULT 0 NOT NULL,
    top_score_hist integer[] NOT NULL,
    latency_n integer DEFAULT 0 NOT NULL,
    latency_sum bigint DEFAULT 0 NOT NULL,
    latency_hist integer[] NOT NULL,
    newest_event_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kb_retrieval_window_check CHECK (((empty >= 0) AND (empty <= retrievals))),
    CONSTRAINT kb_retrieval_window_hour_check CHECK ((date_trunc('hour'::text, (hour AT TIME ZONE 'UTC'::text)) = (hour AT TIME ZONE 'UTC'::text))),
    CONSTRAINT kb_retrieval_window_retrievals_check CHECK ((retrievals >= 0))
);

COMMENT ON TABLE public.kb_retrieval_window IS 'Retrieval health per UTC hour, tenant and engine: counts, sums and histograms that can be added up. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_retrieval_window.hour IS 'Start of the UTC hour of occurred_at.';

COMMENT ON COLUMN public.kb_retrieval_window.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_window.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_retrieval_window.engine IS 'The engine.';

COMMENT ON COLUMN public.kb_retrieval_window.retrievals IS 'Retrievals that served somebody; shadow runs are counted apart.';

COMMENT ON COLUMN public.kb_retrieval_window.shadows IS 'Shadow runs; they are in no other column.';

COMMENT ON COLUMN public.kb_retrieval_window.empty IS 'Retrievals without a result.';

COMMENT ON COLUMN public.kb_retrieval_window.degraded IS 'Retrievals with a part of the engine left out.';

COMMENT ON COLUMN public.kb_retrieval_window.with_message IS 'Retrievals whose draft was persisted.';

COMMENT ON COLUMN public.kb_retrieval_window.result_count_sum IS 'Sum of the results.';

COMMENT ON COLUMN public.kb_retrieval_window.top_score_n IS 'Retrievals whose best result has a score.';

COMMENT ON COLUMN public.kb_retrieval_window.top_score_sum IS 'Sum of the best scores.';

COMMENT ON COLUMN public.kb_retrieval_window.top_score_hist IS 'Best scores: [1] below 0, [2] to [21] by twentieths of [0, 1], 1 itself in the last, [22] above 1.';

COMMENT ON COLUMN public.kb_retrieval_window.latency_n IS 'Retrievals with a latency.';

COMMENT ON COLUMN public.kb_retrieval_window.latency_sum IS 'Sum of the latencies in milliseconds.';

COMMENT ON COLUMN public.kb_retrieval_window.latency_hist IS 'Latencies up to and including 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000 ms, and above.';

COMMENT ON COLUMN public.kb_retrieval_window.newest_event_at IS 'created_at of the newest event that was counted.';

COMMENT ON COLUMN public.kb_retrieval_window.updated_at IS 'When the row last changed.';

CREATE TABLE public.kb_search_event (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    specialist_id uuid NOT NULL,
    expert_id uuid,
    conversation_id uuid,
    message_id uuid,
    search_id uuid NOT NULL,
    event_type text NOT NULL,
    query text,
    doc_id text,
    chunk_id text,
    rank integer,
    result_count integer,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    query_sha text,
    text_expired_at timestamp with time zone,
    noted_at timestamp with time zone,
    harvested_by text,
    CONSTRAINT kb_search_event_chunk_id_check CHECK ((char_length(chunk_id) <= 512)),
    CONSTRAINT kb_search_event_created_at_check CHECK (((created_at >= '2020-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < (now() + '1 day'::interval)))),
    CONSTRAINT kb_search_event_doc_id_check CHECK ((char_length(doc_id) <= 512)),
    CONSTRAINT kb_search_event_event_type_check CHECK ((event_type = ANY (ARRAY['kb.search.performed'::text, 'kb.result.clicked'::text, 'kb.citation.inserted'::text]))),
    CONSTRAINT kb_search_event_fits_its_type CHECK (
CASE
    WHEN (event_type = 'kb.search.performed'::text) THEN ((query IS NOT NULL) OR (text_expired_at IS NOT NULL))
    ELSE (doc_id IS NOT NULL)
END),
    CONSTRAINT kb_search_event_occurred_at_check CHECK (((occurred_at >= '2020-01-01 00:00:00+00'::timestamp with time zone) AND (occurred_at < (now() + '1 day'::interval)))),
    CONSTRAINT kb_search_event_query_check CHECK ((octet_length(query) <= 8192)),
    CONSTRAINT kb_search_event_query_sha_check CHECK (((query_sha ~ '^[0-9a-f]+$'::text) AND (char_length(query_sha) = 64))),
    CONSTRAINT kb_search_event_rank_check CHECK ((rank >= 1)),
    CONSTRAINT kb_search_event_result_count_check CHECK ((result_count >= 0))
);

COMMENT ON TABLE public.kb_search_event IS 'One row per step of an expert''s own search in the workspace. Tenancy: Org x Specialist.';

COMMENT ON COLUMN public.kb_search_event.id IS 'Made by the producer.';

COMMENT ON COLUMN public.kb_search_event.org_id IS 'Organisation, first half of the tenancy key.';

COMMENT ON COLUMN public.kb_search_event.specialist_id IS 'Specialist, second half of the tenancy key.';

COMMENT ON COLUMN public.kb_search_event.expert_id IS 'Who searched.';

COMMENT ON COLUMN public.kb_search_event.conversation_id IS 'The thread the expert worked on.';

COMMENT ON COLUMN public.kb_search_event.message_id IS 'The draft the expert worked on.';

COMMENT ON COLUMN public.kb_search_event.search_id IS 'Holds the steps of one search together.';

COMMENT ON COLUMN public.kb_search_event.event_type IS 'kb.search.performed, kb.result.clicked or kb.citation.inserted.';

COMMENT ON COLUMN public.kb_search_event.query IS 'What was searched for; set for kb.search.performed until text_expired_at.';

COMMENT ON COLUMN public.kb_search_event.doc_id IS 'The document clicked or cited.';

COMMENT ON COLUMN public.kb_search_event.chunk_id IS 'The chunk of it.';

COMMENT ON COLUMN public.kb_search_event.rank IS 'Where it stood in the results, from 1.';

COMMENT ON COLUMN public.kb_search_event.result_count IS 'How many results a performed search had.';

COMMENT ON COLUMN public.kb_search_event.created_at IS 'When the row was written.';

COMMENT ON COLUMN public.kb_search_event.occurred_at IS 'When it happened, by the producer.';

COMMENT ON COLUMN public.kb_search_event.query_sha IS 'SHA-256 (hex) of the normalised query.';

COMMENT ON COLUMN public.kb_search_event.text_expired_at IS 'When the query text was dropped.';

COMMENT ON COLUMN public.kb_search_event.noted_at IS 'When kb_query took note of its query; null until then, and for clicks and citations.';

COMMENT ON COLUMN public.kb_search_event.harvested_by IS 'The rules that the evidence of its search was taken by; null until then.';

CREATE TABLE public.rag_call (
    event_id text NOT NULL,
    trace_id text,
    ts timestamp with time zone NOT NULL,
    tenant text DEFAULT ''::text NOT NULL,
    surface text DEFAULT ''::text NOT NULL,
    operation text,
    engine text DEFAULT ''::text NOT NULL,
    model text,
    http_status integer,
    verdict text NOT NULL,
    parse_status text,
    evidence_intact boolean,
    template text,
    examined_at timestamp with time zone DEFAULT now() NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT rag_call_event_id_check CHECK ((event_id <> ''::text)),
    CONSTRAINT rag_call_parse_status_check CHECK ((parse_status = ANY (ARRAY['ok'::text, 'ok_length'::text, 'context_fallback'::text, 'no_question'::text, 'truncated_prompt'::text, 'tool_calls'::text, 'refusal'::text, 'content_filter'::text, 'empty_answer'::text, 'no_choices'::text, 'error'::text, 'stream_error'::text, 'stream_incomplete'::text, 'empty'::text, 'not_json'::text, 'truncated_json'::text, 'undecodable'::text, 'redacted'::text, 'not_chat'::text, 'too_large'::text, 'missing_body'::text]))),
    CONSTRAINT rag_call_status_goes_with_verdict CHECK (((verdict = ANY (ARRAY['synthesis'::text, 'unreadable'::text])) = (parse_status IS NOT NULL))),
    CONSTRAINT rag_call_verdict_check CHECK ((verdict = ANY (ARRAY['synthesis'::text, 'other'::text, 'sampled_out'::text, 'self'::text, 'unreadable'::text])))
);

COMMENT ON TABLE public.rag_call IS 'The ledger: one row per audited call that was examined, so that no call is read twice and every call is accounted for. Holds no text; its rows outlive erasure as tombstones.';

COMMENT ON COLUMN public.rag_call.event_id IS 'The gateway''s id of the audited call.';

COMMENT ON COLUMN public.rag_call.trace_id IS 'The trace that the call belongs to.';

COMMENT ON COLUMN public.rag_call.ts IS 'Completion of the audited call.';

COMMENT ON COLUMN public.rag_call.tenant IS 'The tenant that called; empty where the audit trail names none.';

COMMENT ON COLUMN public.rag_call.surface IS 'The surface that called, for example public.';

COMMENT ON COLUMN public.rag_call.operation IS 'The gateway''s name of the operation.';

COMMENT ON COLUMN public.rag_call.engine IS 'The engine that served the call.';

COMMENT ON COLUMN public.rag_call.model IS 'The model that answered.';

COMMENT ON COLUMN public.rag_call.http_status IS 'The HTTP status that the gateway recorded.';

COMMENT ON COLUMN public.rag_call.verdict IS 'synthesis: a turn; other: some other call; sampled_out: a turn left out by sample_rate; self: a call of this pipeline; unreadable: the request could not be read.';

COMMENT ON COLUMN public.rag_call.parse_status IS 'How the stored pair could be read; set for synthesis and unreadable.';

COMMENT ON COLUMN public.rag_call.evidence_intact IS 'Whether the stored bodies match the hash chain; null where the audit trail maps none.';

COMMENT ON COLUMN public.rag_call.template IS 'Fingerprint of the markers and the sample rate that the verdict was decided by; null where the surface was not configured.';

COMMENT ON COLUMN public.rag_call.examined_at IS 'When the call was examined.';

COMMENT ON COLUMN public.rag_call.erased_at IS 'When everything else known of the turn was deleted, by retention or because the source deleted it; the tombstone keeps it from being graded again.';

CREATE TABLE public.rag_call_window (
    hour timestamp with time zone NOT NULL,
    tenant text NOT NULL,
    surface text NOT NULL,
    engine text NOT NULL,
    examined integer NOT NULL,
    synthesis integer NOT NULL,
    sampled_out integer NOT NULL,
    other integer NOT NULL,
    self integer NOT NULL,
    unreadable integer NOT NULL,
    parsed integer NOT NULL,
    parse_attempted integer NOT NULL,
    parse_status_counts jsonb NOT NULL,
    CONSTRAINT rag_call_window_adds_up CHECK ((examined = ((((synthesis + sampled_out) + other) + self) + unreadable))),
    CONSTRAINT rag_call_window_hour_check CHECK ((date_trunc('hour'::text, hour, 'UTC'::text) = hour))
);

COMMENT ON TABLE public.rag_call_window IS 'What the ledger says of one UTC hour: how many calls were examined, recognised and readable. It belongs to no judge version.';

COMMENT ON COLUMN public.rag_call_window.hour IS 'Start of the UTC hour.';

COMMENT ON COLUMN public.rag_call_window.tenant IS 'The tenant; empty where the audit trail names none.';

COMMENT ON COLUMN public.rag_call_window.surface IS 'The surface.';

COMMENT ON COLUMN public.rag_call_window.engine IS 'The engine.';

COMMENT ON COLUMN public.rag_call_window.examined IS 'Calls examined.';

COMMENT ON COLUMN public.rag_call_window.synthesis IS 'Calls recognised as a turn and kept.';

COMMENT ON COLUMN public.rag_call_window.sampled_out IS 'Calls recognised as a turn and left out by sample_rate.';

COMMENT ON COLUMN public.rag_call_window.other IS 'Calls that are no turn.';

COMMENT ON COLUMN public.rag_call_window.self IS 'Calls of this pipeline itself.';

COMMENT ON COLUMN public.rag_call_window.unreadable IS 'Calls whose request could not be read.';

COMMENT ON COLUMN public.rag_call_window.parsed IS 'ok + ok_length: the numerator of the parse-success rate.';

COMMENT ON COLUMN public.rag_call_window.parse_attempted IS 'parsed + context_fallback + no_question + truncated_prompt: its denominator, only what a template change can cause.';

COMMENT ON COLUMN public.rag_call_window.parse_status_counts IS 'Synthesis calls by parse_status.';

CREATE TABLE public.rag_judge_calibration (
    day date NOT NULL,
    judge_model text NOT NULL,
    prompt_version text NOT NULL,
    language text NOT NULL,
    label_kind text NOT NULL,
    n integer NOT NULL,
    positives integer NOT NULL,
    threshold double precision NOT NULL,
    statistics jsonb NOT NULL,
    computed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT rag_judge_calibration_check CHECK (((positives >= 0) AND (positives <= n))),
    CONSTRAINT rag_judge_calibration_label_kind_check CHECK ((label_kind <> ''::text)),
    CONSTRAINT rag_judge_calibration_language_check CHECK ((language = ANY (ARRAY['all'::text, 'id'::text, 'en'::text, 'unknown'::text]))),
    CONSTRAINT rag_judge_calibration_n_check CHECK ((n >= 0)),
    CONSTRAINT rag_judge_calibration_statistics_check CHECK ((jsonb_typeof(statistics) = 'object'::text)),
    CONSTRAINT rag_judge_calibration_threshold_check CHECK (((threshold >= (0)::double precision) AND (threshold <= (1)::double precision)))
);

COMMENT ON TABLE public.rag_judge_calibration IS 'How far the judge agrees with the experts'' own outcomes over the thirty days that end with the day: one row per judge version, language and kind of label.';

COMMENT ON COLUMN public.rag_judge_calibration.day IS 'The last UTC day of the thirty.';

COMMENT ON COLUMN public.rag_judge_calibration.judge_model IS 'The model that gave the scores.';

COMMENT ON COLUMN public.rag_judge_calibration.prompt_version IS 'The prompt they were given with.';

COMMENT ON COLUMN public.rag_judge_calibration.language IS 'Language of the question: id, en, unknown where its text has expired; all for all of them together.';

COMMENT ON COLUMN public.rag_judge_calibration.label_kind IS 'expert_outcome: every decision; expert_outcome:<outcome>: those with this outcome beside all of the other label.';

COMMENT ON COLUMN public.rag_judge_calibration.n IS 'Graded turns with a label.';

COMMENT ON COLUMN public.rag_judge_calibration.positives IS 'Those labelled good: accepted or lightly edited.';

COMMENT ON COLUMN public.rag_judge_calibration.threshold IS 'A score at or above it says good: thresholds.faithfulness_warn at the time.';

COMMENT ON COLUMN public.rag_judge_calibration.statistics IS 'Each figure as value, low and high (95 %) and n, or null with its reason.';

COMMENT ON COLUMN public.rag_judge_calibration.computed_at IS 'When the row was computed.';

CREATE TABLE public.rag_judge_canary (
    canary_id bigint NOT NULL,
    judge_model text NOT NULL,
    prompt_version text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    healthy boolean,
    asked integer NOT NULL,
    right_verdicts integer NOT NULL,
    failures jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT rag_judge_canary_an_outage_says_nothing CHECK (((healthy IS NULL) = (asked = 0))),
    CONSTRAINT rag_judge_canary_asked_check CHECK ((asked >= 0)),
    CONSTRAINT rag_judge_canary_check CHECK (((right_verdicts >= 0) AND (right_verdicts <= asked))),
    CONSTRAINT rag_judge_canary_failures_check CHECK ((jsonb_typeof(failures) = 'array'::text))
);

COMMENT ON TABLE public.rag_judge_canary IS 'Every canary: turns of our own with known verdicts, given to the judge. A wrong verdict makes it unhealthy.';

COMMENT ON COLUMN public.rag_judge_canary.canary_id IS 'A number of its own.';

COMMENT ON COLUMN public.rag_judge_canary.judge_model IS 'The model that was asked.';

COMMENT ON COLUMN public.rag_judge_canary.prompt_version IS 'The prompt it was asked with.';

COMMENT ON COLUMN public.rag_judge_canary.asked_at IS 'When it was asked.';

COMMENT ON COLUMN public.rag_judge_canary.healthy IS 'Whether every turn that it answered got the verdict it must have; null where nothing but outages came back.';

COMMENT ON COLUMN public.rag_judge_canary.asked IS 'Turns that it answered, usably or not; outages are not counted.';

COMMENT ON COLUMN public.rag_judge_canary.right_verdicts IS 'Those whose scores are all where they must be.';

COMMENT ON COLUMN public.rag_judge_canary.failures IS 'What was wrong, as codes: turn and aspect with too_low, too_high or missing, or turn and error class.';

ALTER TABLE public.rag_judge_canary ALTER COLUMN canary_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.rag_judge_canary_canary_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.rag_judge_outage (
    judge_model text NOT NULL,
    since timestamp with time zone NOT NULL,
    runs integer NOT NULL,
    retry_at timestamp with time zone NOT NULL,
    CONSTRAINT rag_judge_outage_runs_check CHECK ((runs > 0))
);

COMMENT ON TABLE public.rag_judge_outage IS 'Judging models that are down: from the run that found one so until a run that gets scores from it.';

COMMENT ON COLUMN public.rag_judge_outage.judge_model IS 'The judging model.';

COMMENT ON COLUMN public.rag_judge_outage.since IS 'When it was first found down.';

COMMENT ON COLUMN public.rag_judge_outage.runs IS 'Runs in a row that found it down.';

COMMENT ON COLUMN public.rag_judge_outage.retry_at IS 'No run calls it before this instant unless asked to.';

CREATE TABLE public.rag_judge_score (
    event_id text NOT NULL,
    judge_model text NOT NULL,
    prompt_version text NOT NULL,
    ts timestamp with time zone NOT NULL,
    status text NOT NULL,
    claimed_by text,
    claim_lock integer,
    claimed_at timestamp with time zone,
    lease_until timestamp with time zone,
    idempotency_key text NOT NULL,
    calls integer DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    faithfulness double precision,
    answer_relevance double precision,
    context_relevance double precision,
    faithfulness_reason text,
    answer_relevance_reason text,
    context_relevance_reason text,
    error_class text,
    error_detail text,
    response_format text,
    prompt_tokens integer,
    completion_tokens integer,
    latency_ms integer,
    judged_at timestamp with time zone,
    failed_runs integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone,
    provisional boolean DEFAULT false NOT NULL,
    parts integer,
    context_shown double precision,
    history_left_out integer,
    skip_reason text,
    CONSTRAINT rag_judge_score_answer_relevance_check CHECK (((answer_relevance >= (0)::double precision) AND (answer_relevance <= (1)::double precision))),
    CONSTRAINT rag_judge_score_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT rag_judge_score_calls_check CHECK ((calls >= 0)),
    CONSTRAINT rag_judge_score_claim_has_a_lease CHECK (((status <> 'claimed'::text) OR ((lease_until IS NOT NULL) AND (claimed_by IS NOT NULL) AND (claim_lock IS NOT NULL)))),
    CONSTRAINT rag_judge_score_completion_tokens_check CHECK ((completion_tokens >= 0)),
    CONSTRAINT rag_judge_score_context_relevance_check CHECK (((context_relevance >= (0)::double precision) AND (context_relevance <= (1)::double precision))),
    CONSTRAINT rag_judge_score_context_shown_check CHECK (((context_shown >= (0)::double precision) AND (context_shown <= (1)::double precision))),
    CONSTRAINT rag_judge_score_error_class_check CHECK ((error_class = ANY (ARRAY['timeout'::text, 'connection'::text, 'rate_limited'::text, 'http_4xx'::text, 'http_5xx'::text, 'not_json'::text, 'bad_schema'::text, 'out_of_range'::text, 'truncated_reply'::text, 'empty_reply'::text]))),
    CONSTRAINT rag_judge_score_error_has_a_class CHECK (((status <> ALL (ARRAY['error'::text, 'failed'::text])) OR (error_class IS NOT NULL))),
    CONSTRAINT rag_judge_score_failed_runs_check CHECK ((failed_runs >= 0)),
    CONSTRAINT rag_judge_score_faithfulness_check CHECK (((faithfulness >= (0)::double precision) AND (faithfulness <= (1)::double precision))),
    CONSTRAINT rag_judge_score_history_left_out_check CHECK ((history_left_out >= 0)),
    CONSTRAINT rag_judge_score_latency_ms_check CHECK ((latency_ms >= 0)),
    CONSTRAINT rag_judge_score_no_score_has_a_reason CHECK (((status <> 'ok'::text) OR (((faithfulness IS NOT NULL) OR (COALESCE(faithfulness_reason, ''::text) <> ''::text)) AND ((answer_relevance IS NOT NULL) OR (COALESCE(answer_relevance_reason, ''::text) <> ''::text)) AND ((context_relevance IS NOT NULL) OR (COALESCE(context_relevance_reason, ''::text) <> ''::text))))),
    CONSTRAINT rag_judge_score_ok_has_a_score CHECK (((status = 'ok'::text) = (num_nonnulls(faithfulness, answer_relevance, context_relevance) > 0))),
    CONSTRAINT rag_judge_score_parts_check CHECK ((parts >= 1)),
    CONSTRAINT rag_judge_score_prompt_tokens_check CHECK ((prompt_tokens >= 0)),
    CONSTRAINT rag_judge_score_skip_has_a_reason CHECK (((status = 'skipped'::text) = (skip_reason IS NOT NULL))),
    CONSTRAINT rag_judge_score_status_check CHECK ((status = ANY (ARRAY['claimed'::text, 'ok'::text, 'error'::text, 'failed'::text, 'outdated'::text, 'skipped'::text])))
);

COMMENT ON TABLE public.rag_judge_score IS 'One row per synthesis call, judge model and prompt version. Claimed before the call, so that a key has at most one call in flight.';

COMMENT ON COLUMN public.rag_judge_score.event_id IS 'The synthesis call.';

COMMENT ON COLUMN public.rag_judge_score.judge_model IS 'The judging model.';

COMMENT ON COLUMN public.rag_judge_score.prompt_version IS 'The version of the judge prompt.';

COMMENT ON COLUMN public.rag_judge_score.ts IS 'Completion of the audited call.';

COMMENT ON COLUMN public.rag_judge_score.status IS 'claimed: a call may be in flight; ok: scored; error: tried again later; failed: attempts used up; outdated: the turn was read anew since, and waits; skipped: cannot be judged, see skip_reason.';

COMMENT ON COLUMN public.rag_judge_score.claimed_by IS 'The run that holds or held the claim.';

COMMENT ON COLUMN public.rag_judge_score.claim_lock IS 'The advisory lock that the claiming run holds while it lives.';

COMMENT ON COLUMN public.rag_judge_score.claimed_at IS 'When the claim was made.';

COMMENT ON COLUMN public.rag_judge_score.lease_until IS 'When an unsettled claim is free again.';

COMMENT ON COLUMN public.rag_judge_score.idempotency_key IS 'Sent with the call and stored with the claim: the same attempt after a crash carries the same key.';

COMMENT ON COLUMN public.rag_judge_score.calls IS 'Calls made for this key, outages included.';

COMMENT ON COLUMN public.rag_judge_score.attempts IS 'Attempts used up; an outage uses none.';

COMMENT ON COLUMN public.rag_judge_score.faithfulness IS 'Fraction of the answer that the context supports, by the judge.';

COMMENT ON COLUMN public.rag_judge_score.answer_relevance IS 'How well the answer addresses the question, by the judge.';

COMMENT ON COLUMN public.rag_judge_score.context_relevance IS 'How well the context fits the question, by the judge.';

COMMENT ON COLUMN public.rag_judge_score.faithfulness_reason IS 'The judge''s reason, or why there is no score.';

COMMENT ON COLUMN public.rag_judge_score.answer_relevance_reason IS 'The judge''s reason, or why there is no score.';

COMMENT ON COLUMN public.rag_judge_score.context_relevance_reason IS 'The judge''s reason, or why there is no score.';

COMMENT ON COLUMN public.rag_judge_score.error_class IS 'Why the last call gave no scores.';

COMMENT ON COLUMN public.rag_judge_score.error_detail IS 'What the last call met, or why the turn is skipped; never text of a turn.';

COMMENT ON COLUMN public.rag_judge_score.response_format IS 'How the reply was asked for: json_schema, json_object or text.';

COMMENT ON COLUMN public.rag_judge_score.prompt_tokens IS 'Prompt tokens, over all calls.';

COMMENT ON COLUMN public.rag_judge_score.completion_tokens IS 'Completion tokens, over all calls.';

COMMENT ON COLUMN public.rag_judge_score.latency_ms IS 'Milliseconds of the last call.';

COMMENT ON COLUMN public.rag_judge_score.judged_at IS 'When the last call was settled.';

COMMENT ON COLUMN public.rag_judge_score.failed_runs IS 'Runs in a row that called for the turn and got no scores.';

COMMENT ON COLUMN public.rag_judge_score.retry_at IS 'No run calls again before it unless asked to; null where nothing is to be waited for.';

COMMENT ON COLUMN public.rag_judge_score.provisional IS 'Given by a rejudge beside the score of another version: not published, and settling no turn, until its version is the configured one at a publication.';

COMMENT ON COLUMN public.rag_judge_score.parts IS 'In how many parts the scores were given; null where the judge was shown the turn whole, or gave none.';

COMMENT ON COLUMN public.rag_judge_score.context_shown IS 'The share of the context, by characters, that the judge was shown in some part, a fraction; 1 where it was shown whole.';

COMMENT ON COLUMN public.rag_judge_score.history_left_out IS 'Messages of the conversation, the oldest, that the judge was not shown.';

COMMENT ON COLUMN public.rag_judge_score.skip_reason IS 'Why the turn cannot be judged; set for skipped.';

CREATE TABLE public.rag_metric (
    event_id text NOT NULL,
    ts timestamp with time zone NOT NULL,
    had_context boolean NOT NULL,
    num_passages integer NOT NULL,
    top_score double precision,
    mean_score double precision,
    context_chars integer NOT NULL,
    answer_chars integer NOT NULL,
    refused boolean NOT NULL,
    answer_truncated boolean NOT NULL,
    support_score double precision,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    opinion jsonb,
    opinion_version text,
    CONSTRAINT rag_metric_answer_chars_check CHECK ((answer_chars >= 0)),
    CONSTRAINT rag_metric_context_chars_check CHECK ((context_chars >= 0)),
    CONSTRAINT rag_metric_mean_score_check CHECK (((mean_score = mean_score) AND (abs(mean_score) < 'Infinity'::double precision))),
    CONSTRAINT rag_metric_num_passages_check CHECK ((num_passages >= 0)),
    CONSTRAINT rag_metric_opinion_check CHECK ((jsonb_typeof(opinion) = 'object'::text)),
    CONSTRAINT rag_metric_opinion_has_a_version CHECK (((opinion IS NULL) OR (opinion_version IS NOT NULL))),
    CONSTRAINT rag_metric_support_score_check CHECK (((support_score >= (0)::double precision) AND (support_score <= (1)::double precision))),
    CONSTRAINT rag_metric_top_score_check CHECK (((top_score = top_score) AND (abs(top_score) < 'Infinity'::double precision)))
);

COMMENT ON TABLE public.rag_metric IS 'The deterministic metrics of one synthesis call: exact, free, always there.';

COMMENT ON COLUMN public.rag_metric.event_id IS 'The synthesis call.';

COMMENT ON COLUMN public.rag_metric.ts IS 'Completion of the audited call.';

COMMENT ON COLUMN public.rag_metric.had_context IS 'Whether any context was retrieved.';

COMMENT ON COLUMN public.rag_metric.num_passages IS 'Passages in the context.';

COMMENT ON COLUMN public.rag_metric.top_score IS 'Highest retrieval score of the passages; null without one.';

COMMENT ON COLUMN public.rag_metric.mean_score IS 'Mean retrieval score of the passages; null without one.';

COMMENT ON COLUMN public.rag_metric.context_chars IS 'Characters of the context.';

COMMENT ON COLUMN public.rag_metric.answer_chars IS 'Characters of the answer.';

COMMENT ON COLUMN public.rag_metric.refused IS 'Whether the answer is an honest refusal.';

COMMENT ON COLUMN public.rag_metric.answer_truncated IS 'Whether the answer was cut by its length limit.';

COMMENT ON COLUMN public.rag_metric.support_score IS 'The second opinion: how much of the answer its context supports, counted, a fraction; null where the answer asserts nothing, there is no context, or nothing was counted yet.';

COMMENT ON COLUMN public.rag_metric.created_at IS 'When the row was written.';

COMMENT ON COLUMN public.rag_metric.opinion IS 'What the second opinion counted, kind by kind: how many the answer claims and how many its context has. No text. Null until counted, and where the text was gone by then.';

COMMENT ON COLUMN public.rag_metric.opinion_version IS 'Which rules counted; null until counted.';

CREATE TABLE public.rag_quality (
    event_id text NOT NULL,
    trace_id text,
    ts timestamp with time zone NOT NULL,
    tenant text DEFAULT ''::text NOT NULL,
    engine text DEFAULT ''::text NOT NULL,
    surface text DEFAULT ''::text NOT NULL,
    question_sha text,
    question_preview text,
    parse_status text NOT NULL,
    had_context boolean NOT NULL,
    num_passages integer NOT NULL,
    top_score double precision,
    mean_score double precision,
    context_chars integer NOT NULL,
    answer_chars integer NOT NULL,
    refused boolean NOT NULL,
    answer_truncated boolean NOT NULL,
    faithfulness double precision,
    answer_relevance double precision,
    context_relevance double precision,
    faithfulness_reason text,
    answer_relevance_reason text,
    context_relevance_reason text,
    judge_status text NOT NULL,
    error_class text,
    skip_reason text,
    judge_model text,
    prompt_version text,
    support_score double precision,
    evidence_intact boolean,
    judged_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    disagreement double precision,
    judge_parts integer,
    CONSTRAINT rag_quality_disagreement_check CHECK (((disagreement >= (0)::double precision) AND (disagreement <= (1)::double precision))),
    CONSTRAINT rag_quality_error_has_a_class CHECK (((judge_status = ANY (ARRAY['error'::text, 'failed'::text])) = (error_class IS NOT NULL))),
    CONSTRAINT rag_quality_judge_parts_check CHECK ((judge_parts >= 1)),
    CONSTRAINT rag_quality_judge_status_check CHECK ((judge_status = ANY (ARRAY['ok'::text, 'pending'::text, 'error'::text, 'failed'::text, 'skipped'::text, 'disabled'::text]))),
    CONSTRAINT rag_quality_no_score_has_a_reason CHECK (((judge_status <> 'ok'::text) OR (((faithfulness IS NOT NULL) OR (COALESCE(faithfulness_reason, ''::text) <> ''::text)) AND ((answer_relevance IS NOT NULL) OR (COALESCE(answer_relevance_reason, ''::text) <> ''::text)) AND ((context_relevance IS NOT NULL) OR (COALESCE(context_relevance_reason, ''::text) <> ''::text))))),
    CONSTRAINT rag_quality_only_ok_has_scores CHECK (((judge_status = 'ok'::text) = (num_nonnulls(faithfulness, answer_relevance, context_relevance) > 0))),
    CONSTRAINT rag_quality_question_preview_check CHECK ((char_length(question_preview) <= 120)),
    CONSTRAINT rag_quality_scores_are_fractions CHECK ((((faithfulness IS NULL) OR ((faithfulness >= (0)::double precision) AND (faithfulness <= (1)::double precision))) AND ((answer_relevance IS NULL) OR ((answer_relevance >= (0)::double precision) AND (answer_relevance <= (1)::double precision))) AND ((context_relevance IS NULL) OR ((context_relevance >= (0)::double precision) AND (context_relevance <= (1)::double precision))))),
    CONSTRAINT rag_quality_skip_has_a_reason CHECK (((judge_status = 'skipped'::text) = (skip_reason IS NOT NULL))),
    CONSTRAINT rag_quality_support_score_check CHECK (((support_score >= (0)::double precision) AND (support_score <= (1)::double precision)))
)
PARTITION BY RANGE (ts);

COMMENT ON TABLE public.rag_quality IS 'The published row: one per synthesis call, idempotent on event_id (the ledger rag_call decides). Scores are null unless judge_status is ok.';

COMMENT ON COLUMN public.rag_quality.event_id IS 'The synthesis call.';

COMMENT ON COLUMN public.rag_quality.trace_id IS 'The trace that the call belongs to.';

COMMENT ON COLUMN public.rag_quality.ts IS 'Completion of the audited call; the partition key.';

COMMENT ON COLUMN public.rag_quality.tenant IS 'The tenant that called; empty where the audit trail names none.';

COMMENT ON COLUMN public.rag_quality.engine IS 'The engine that served the call.';

COMMENT ON COLUMN public.rag_quality.surface IS 'The surface that called, for example public.';

COMMENT ON COLUMN public.rag_quality.question_sha IS 'SHA-256 (hex) of the NFC-normalised question; null without a question.';

COMMENT ON COLUMN public.rag_quality.question_preview IS 'At most 120 characters of the question, redacted; expires.';

COMMENT ON COLUMN public.rag_quality.parse_status IS 'How the stored pair could be read.';

COMMENT ON COLUMN public.rag_quality.had_context IS 'Whether any context was retrieved.';

COMMENT ON COLUMN public.rag_quality.num_passages IS 'Passages in the context.';

COMMENT ON COLUMN public.rag_quality.top_score IS 'Highest retrieval score of the passages; null without one.';

COMMENT ON COLUMN public.rag_quality.mean_score IS 'Mean retrieval score of the passages; null without one.';

COMMENT ON COLUMN public.rag_quality.context_chars IS 'Characters of the context.';

COMMENT ON COLUMN public.rag_quality.answer_chars IS 'Characters of the answer.';

COMMENT ON COLUMN public.rag_quality.refused IS 'Whether the answer is an honest refusal.';

COMMENT ON COLUMN public.rag_quality.answer_truncated IS 'Whether the answer was cut by its length limit.';

COMMENT ON COLUMN public.rag_quality.faithfulness IS 'Fraction of the answer that the retrieved context supports, by the judge; null with its reason when the answer asserts nothing.';

COMMENT ON COLUMN public.rag_quality.answer_relevance IS 'How well the answer addresses the question, by the judge.';

COMMENT ON COLUMN public.rag_quality.context_relevance IS 'How well the context fits the question, by the judge; null with its reason without a context.';

COMMENT ON COLUMN public.rag_quality.faithfulness_reason IS 'The judge''s reason, or why there is no score.';

COMMENT ON COLUMN public.rag_quality.answer_relevance_reason IS 'The judge''s reason, or why there is no score.';

COMMENT ON COLUMN public.rag_quality.context_relevance_reason IS 'The judge''s reason, or why there is no score.';

COMMENT ON COLUMN public.rag_quality.judge_status IS 'ok, pending (not attempted yet), error (attempted, tried again later), failed (attempts used up), skipped (cannot be judged) or disabled.';

COMMENT ON COLUMN public.rag_quality.error_class IS 'Why the last judge call gave no scores; set for error and failed.';

COMMENT ON COLUMN public.rag_quality.skip_reason IS 'Why the turn cannot be judged; set for skipped.';

COMMENT ON COLUMN public.rag_quality.judge_model IS 'The judging model; null for skipped and disabled.';

COMMENT ON COLUMN public.rag_quality.prompt_version IS 'The version of the judge prompt; null for skipped and disabled.';

COMMENT ON COLUMN public.rag_quality.support_score IS 'The second opinion: how much of the answer its context supports, counted, a fraction; null where the answer asserts nothing, there is no context, or nothing was counted.';

COMMENT ON COLUMN public.rag_quality.evidence_intact IS 'Whether the stored bodies match the hash chain; null where the audit trail maps none.';

COMMENT ON COLUMN public.rag_quality.judged_at IS 'When the last judge call was settled.';

COMMENT ON COLUMN public.rag_quality.created_at IS 'When the row was first published.';

COMMENT ON COLUMN public.rag_quality.disagreement IS 'How strongly the judge''s faithfulness and the second opinion contradict each other, a fraction; null where either has no score.';

COMMENT ON COLUMN public.rag_quality.judge_parts IS 'In how many parts the judge graded the turn; null where it was shown the turn whole, or gave no scores.';

CREATE TABLE public.rag_quality_day (
    day date NOT NULL,
    tenant text NOT NULL,
    surface text NOT NULL,
    engine text NOT NULL,
    judge_model text NOT NULL,
    prompt_version text NOT NULL,
    turns integer NOT NULL,
    graded integer NOT NULL,
    pending integer NOT NULL,
    errors integer NOT NULL,
    failed integer NOT NULL,
    skipped integer NOT NULL,
    disabled integer NOT NULL,
    had_context integer NOT NULL,
    refused integer NOT NULL,
    truncated integer NOT NULL,
    faithfulness_n integer NOT NULL,
    faithfulness_sum double precision NOT NULL,
    faithfulness_sum_sq double precision NOT NULL,
    faithfulness_hist integer[] NOT NULL,
    answer_relevance_n integer NOT NULL,
    answer_relevance_sum double precision NOT NULL,
    answer_relevance_sum_sq double precision NOT NULL,
    answer_relevance_hist integer[] NOT NULL,
    context_relevance_n integer NOT NULL,
    context_relevance_sum double precision NOT NULL,
    context_relevance_sum_sq double precision NOT NULL,
    context_relevance_hist integer[] NOT NULL,
    top_score_n integer NOT NULL,
    top_score_sum double precision NOT NULL,
    context_chars_sum bigint NOT NULL,
    answer_chars_sum bigint NOT NULL,
    judge_calls integer NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    judge_ms bigint NOT NULL,
    CONSTRAINT rag_quality_day_adds_up CHECK ((turns = (((((graded + pending) + errors) + failed) + skipped) + disabled)))
);

COMMENT ON TABLE public.rag_quality_day IS 'The sum of the hours of one UTC day.';

COMMENT ON COLUMN public.rag_quality_day.day IS 'The UTC day.';

COMMENT ON COLUMN public.rag_quality_day.tenant IS 'The tenant; empty where the audit trail names none.';

COMMENT ON COLUMN public.rag_quality_day.surface IS 'The surface.';

COMMENT ON COLUMN public.rag_quality_day.engine IS 'The engine.';

COMMENT ON COLUMN public.rag_quality_day.judge_model IS 'The judging model; empty for turns that no judge saw.';

COMMENT ON COLUMN public.rag_quality_day.prompt_version IS 'The version of the judge prompt; empty for turns that no judge saw.';

COMMENT ON COLUMN public.rag_quality_day.turns IS 'Synthesis calls.';

COMMENT ON COLUMN public.rag_quality_day.graded IS 'Turns with judge_status ok.';

COMMENT ON COLUMN public.rag_quality_day.pending IS 'Turns that wait for their first judge call.';

COMMENT ON COLUMN public.rag_quality_day.errors IS 'Turns whose judge call gave no scores and is tried again.';

COMMENT ON COLUMN public.rag_quality_day.failed IS 'Turns whose attempts are used up.';

COMMENT ON COLUMN public.rag_quality_day.skipped IS 'Turns that cannot be judged.';

COMMENT ON COLUMN public.rag_quality_day.disabled IS 'Turns measured while the judge is off.';

COMMENT ON COLUMN public.rag_quality_day.had_context IS 'Turns with a retrieved context.';

COMMENT ON COLUMN public.rag_quality_day.refused IS 'Turns answered with an honest refusal.';

COMMENT ON COLUMN public.rag_quality_day.truncated IS 'Turns whose answer was cut by its length limit.';

COMMENT ON COLUMN public.rag_quality_day.faithfulness_n IS 'Turns with a faithfulness.';

COMMENT ON COLUMN public.rag_quality_day.faithfulness_sum IS 'Sum of the faithfulness.';

COMMENT ON COLUMN public.rag_quality_day.faithfulness_sum_sq IS 'Sum of the squared faithfulness.';

COMMENT ON COLUMN public.rag_quality_day.faithfulness_hist IS '101 counts: element i holds the scores in [(i-1)/100, i/100), the last those of exactly 1. A rate above any threshold in steps of 0.01 is exact.';

COMMENT ON COLUMN public.rag_quality_day.answer_relevance_n IS 'Turns with an answer relevance.';

COMMENT ON COLUMN public.rag_quality_day.answer_relevance_sum IS 'Sum of the answer relevance.';

COMMENT ON COLUMN public.rag_quality_day.answer_relevance_sum_sq IS 'Sum of the squared answer relevance.';

COMMENT ON COLUMN public.rag_quality_day.answer_relevance_hist IS '101 counts, as faithfulness_hist.';

COMMENT ON COLUMN public.rag_quality_day.context_relevance_n IS 'Turns with a context relevance.';

COMMENT ON COLUMN public.rag_quality_day.context_relevance_sum IS 'Sum of the context relevance.';

COMMENT ON COLUMN public.rag_quality_day.context_relevance_sum_sq IS 'Sum of the squared context relevance.';

COMMENT ON COLUMN public.rag_quality_day.context_relevance_hist IS '101 counts, as faithfulness_hist.';

COMMENT ON COLUMN public.rag_quality_day.top_score_n IS 'Turns with a top retrieval score.';

COMMENT ON COLUMN public.rag_quality_day.top_score_sum IS 'Sum of the top retrieval scores.';

COMMENT ON COLUMN public.rag_quality_day.context_chars_sum IS 'Characters of all contexts.';

COMMENT ON COLUMN public.rag_quality_day.answer_chars_sum IS 'Characters of all answers.';

COMMENT ON COLUMN public.rag_quality_day.judge_calls IS 'Judge calls made, outages included.';

COMMENT ON COLUMN public.rag_quality_day.prompt_tokens IS 'Prompt tokens that the judge reported.';

COMMENT ON COLUMN public.rag_quality_day.completion_tokens IS 'Completion tokens that the judge reported.';

COMMENT ON COLUMN public.rag_quality_day.judge_ms IS 'Milliseconds of the judge calls.';

CREATE TABLE public.rag_quality_window (
    hour timestamp with time zone NOT NULL,
    tenant text NOT NULL,
    surface text NOT NULL,
    engine text NOT NULL,
    judge_model text NOT NULL,
    prompt_version text NOT NULL,
    turns integer NOT NULL,
    graded integer NOT NULL,
    pending integer NOT NULL,
    errors integer NOT NULL,
    failed integer NOT NULL,
    skipped integer NOT NULL,
    disabled integer NOT NULL,
    had_context integer NOT NULL,
    refused integer NOT NULL,
    truncated integer NOT NULL,
    faithfulness_n integer NOT NULL,
    faithfulness_sum double precision NOT NULL,
    faithfulness_sum_sq double precision NOT NULL,
    faithfulness_hist integer[] NOT NULL,
    answer_relevance_n integer NOT NULL,
    answer_relevance_sum double precision NOT NULL,
    answer_relevance_sum_sq double precision NOT NULL,
    answer_relevance_hist integer[] NOT NULL,
    context_relevance_n integer NOT NULL,
    context_relevance_sum double precision NOT NULL,
    context_relevance_sum_sq double precision NOT NULL,
    context_relevance_hist integer[] NOT NULL,
    top_score_n integer NOT NULL,
    top_score_sum double precision NOT NULL,
    context_chars_sum bigint NOT NULL,
    answer_chars_sum bigint NOT NULL,
    judge_calls integer NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    judge_ms bigint NOT NULL,
    CONSTRAINT rag_quality_window_adds_up CHECK ((turns = (((((graded + pending) + errors) + failed) + skipped) + disabled))),
    CONSTRAINT rag_quality_window_answer_relevance_hist_check CHECK ((cardinality(answer_relevance_hist) = 101)),
    CONSTRAINT rag_quality_window_context_relevance_hist_check CHECK ((cardinality(context_relevance_hist) = 101)),
    CONSTRAINT rag_quality_window_faithfulness_hist_check CHECK ((cardinality(faithfulness_hist) = 101)),
    CONSTRAINT rag_quality_window_hour_check CHECK ((date_trunc('hour'::text, hour, 'UTC'::text) = hour))
);

COMMENT ON TABLE public.rag_quality_window IS 'Mergeable sums, counts and histograms of one UTC hour, per tenant, surface, engine and judge version. Every mean is a sum over its own n.';

COMMENT ON COLUMN public.rag_quality_window.hour IS 'Start of the UTC hour.';

COMMENT ON COLUMN public.rag_quality_window.tenant IS 'The tenant; empty where the audit trail names none.';

COMMENT ON COLUMN public.rag_quality_window.surface IS 'The surface.';

COMMENT ON COLUMN public.rag_quality_window.engine IS 'The engine.';

COMMENT ON COLUMN public.rag_quality_window.judge_model IS 'The judging model; empty for turns that no judge saw.';

COMMENT ON COLUMN public.rag_quality_window.prompt_version IS 'The version of the judge prompt; empty for turns that no judge saw.';

COMMENT ON COLUMN public.rag_quality_window.turns IS 'Synthesis calls.';

COMMENT ON COLUMN public.rag_quality_window.graded IS 'Turns with judge_status ok.';

COMMENT ON COLUMN public.rag_quality_window.pending IS 'Turns that wait for their first judge call.';

COMMENT ON COLUMN public.rag_quality_window.errors IS 'Turns whose judge call gave no scores and is tried again.';

COMMENT ON COLUMN public.rag_quality_window.failed IS 'Turns whose attempts are used up.';

COMMENT ON COLUMN public.rag_quality_window.skipped IS 'Turns that cannot be judged.';

COMMENT ON COLUMN public.rag_quality_window.disabled IS 'Turns measured while the judge is off.';

COMMENT ON COLUMN public.rag_quality_window.had_context IS 'Turns with a retrieved context.';

COMMENT ON COLUMN public.rag_quality_window.refused IS 'Turns answered with an honest refusal.';

COMMENT ON COLUMN public.rag_quality_window.truncated IS 'Turns whose answer was cut by its length limit.';

COMMENT ON COLUMN public.rag_quality_window.faithfulness_n IS 'Turns with a faithfulness.';

COMMENT ON COLUMN public.rag_quality_window.faithfulness_sum IS 'Sum of the faithfulness.';

COMMENT ON COLUMN public.rag_quality_window.faithfulness_sum_sq IS 'Sum of the squared faithfulness.';

COMMENT ON COLUMN public.rag_quality_window.faithfulness_hist IS '101 counts: element i holds the scores in [(i-1)/100, i/100), the last those of exactly 1. A rate above any threshold in steps of 0.01 is exact.';

COMMENT ON COLUMN public.rag_quality_window.answer_relevance_n IS 'Turns with an answer relevance.';

COMMENT ON COLUMN public.rag_quality_window.answer_relevance_sum IS 'Sum of the answer relevance.';

COMMENT ON COLUMN public.rag_quality_window.answer_relevance_sum_sq IS 'Sum of the squared answer relevance.';

COMMENT ON COLUMN public.rag_quality_window.answer_relevance_hist IS '101 counts, as faithfulness_hist.';

COMMENT ON COLUMN public.rag_quality_window.context_relevance_n IS 'Turns with a context relevance.';

COMMENT ON COLUMN public.rag_quality_window.context_relevance_sum IS 'Sum of the context relevance.';

COMMENT ON COLUMN public.rag_quality_window.context_relevance_sum_sq IS 'Sum of the squared context relevance.';

COMMENT ON COLUMN public.rag_quality_window.context_relevance_hist IS '101 counts, as faithfulness_hist.';

COMMENT ON COLUMN public.rag_quality_window.top_score_n IS 'Turns with a top retrieval score.';

COMMENT ON COLUMN public.rag_quality_window.top_score_sum IS 'Sum of the top retrieval scores.';

COMMENT ON COLUMN public.rag_quality_window.context_chars_sum IS 'Characters of all contexts.';

COMMENT ON COLUMN public.rag_quality_window.answer_chars_sum IS 'Characters of all answers.';

COMMENT ON COLUMN public.rag_quality_window.judge_calls IS 'Judge calls made, outages included.';

COMMENT ON COLUMN public.rag_quality_window.prompt_tokens IS 'Prompt tokens that the judge reported.';

COMMENT ON COLUMN public.rag_quality_window.completion_tokens IS 'Completion tokens that the judge reported.';

COMMENT ON COLUMN public.rag_quality_window.judge_ms IS 'Milliseconds of the judge calls.';

CREATE TABLE public.rag_stale_hour (
    hour timestamp with time zone NOT NULL,
    stage text NOT NULL,
    touched_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT rag_stale_hour_hour_check CHECK ((date_trunc('hour'::text, hour, 'UTC'::text) = hour)),
    CONSTRAINT rag_stale_hour_stage_check CHECK ((stage = ANY (ARRAY['publish'::text, 'aggregate'::text])))
);

COMMENT ON TABLE public.rag_stale_hour IS 'Hours whose published rows or windows lag behind: written with the change itself, removed with the refresh, so that a crash between the two loses nothing.';

COMMENT ON COLUMN public.rag_stale_hour.hour IS 'Start of the UTC hour.';

COMMENT ON COLUMN public.rag_stale_hour.stage IS 'publish: published rows lag behind; aggregate: windows lag behind.';

COMMENT ON COLUMN public.rag_stale_hour.touched_at IS 'When the hour last changed.';

CREATE TABLE public.rag_triad (
    event_id text NOT NULL,
    ts timestamp with time zone NOT NULL,
    parse_status text NOT NULL,
    question text,
    context text,
    passages jsonb,
    history jsonb,
    answer text,
    finish_reason text,
    question_sha text,
    question_preview text,
    text_expired_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT rag_triad_expired_has_no_text CHECK (((text_expired_at IS NULL) OR ((question IS NULL) AND (context IS NULL) AND (passages IS NULL) AND (history IS NULL) AND (answer IS NULL)))),
    CONSTRAINT rag_triad_history_check CHECK ((jsonb_typeof(history) = 'array'::text)),
    CONSTRAINT rag_triad_passages_check CHECK ((jsonb_typeof(passages) = 'array'::text)),
    CONSTRAINT rag_triad_question_preview_check CHECK ((char_length(question_preview) <= 120)),
    CONSTRAINT rag_triad_question_sha_check CHECK (((char_length(question_sha) = 64) AND (question_sha ~ '^[0-9a-f]+$'::text)))
);

COMMENT ON TABLE public.rag_triad IS 'Question, retrieved context and answer of one synthesis call. The only table with their full text; it expires after retention.triad_text_days.';

COMMENT ON COLUMN public.rag_triad.event_id IS 'The synthesis call.';

COMMENT ON COLUMN public.rag_triad.ts IS 'Completion of the audited call.';

COMMENT ON COLUMN public.rag_triad.parse_status IS 'How the stored pair could be read.';

COMMENT ON COLUMN public.rag_triad.question IS 'The user''s question.';

COMMENT ON COLUMN public.rag_triad.context IS 'The retrieved context as the prompt holds it; empty when nothing was retrieved.';

COMMENT ON COLUMN public.rag_triad.passages IS 'The passages of the context: rank, score, text.';

COMMENT ON COLUMN public.rag_triad.history IS 'The messages before the question, oldest first: role, text.';

COMMENT ON COLUMN public.rag_triad.answer IS 'The answer, without thinking.';

COMMENT ON COLUMN public.rag_triad.finish_reason IS 'Why the model stopped, in the server''s word.';

COMMENT ON COLUMN public.rag_triad.question_sha IS 'SHA-256 (hex) of the NFC-normalised question; null without a question.';

COMMENT ON COLUMN public.rag_triad.question_preview IS 'At most 120 characters of the question, redacted; expires after retention.preview_days.';

COMMENT ON COLUMN public.rag_triad.text_expired_at IS 'When the text was dropped; the row stays as a tombstone.';

COMMENT ON COLUMN public.rag_triad.created_at IS 'When the row was written.';

ALTER TABLE ONLY public.kb_access_record
    ADD CONSTRAINT kb_access_record_pkey PRIMARY KEY (access_id);

ALTER TABLE ONLY public.kb_activation
    ADD CONSTRAINT kb_activation_pkey PRIMARY KEY (feature);

ALTER TABLE ONLY public.kb_alert_destination
    ADD CONSTRAINT kb_alert_destination_pkey PRIMARY KEY (destination);

ALTER TABLE ONLY public.kb_alert_outbox
    ADD CONSTRAINT kb_alert_outbox_pkey PRIMARY KEY (destination, fingerprint, kb_seq);

ALTER TABLE ONLY public.kb_alert_silence
    ADD CONSTRAINT kb_alert_silence_pkey PRIMARY KEY (silence_id);

ALTER TABLE ONLY public.kb_alert_state
    ADD CONSTRAINT kb_alert_state_pkey PRIMARY KEY (fingerprint);

ALTER TABLE ONLY public.kb_alert_transition
    ADD CONSTRAINT kb_alert_transition_fingerprint_kb_seq_key UNIQUE (fingerprint, kb_seq);

ALTER TABLE ONLY public.kb_alert_transition
    ADD CONSTRAINT kb_alert_transition_pkey PRIMARY KEY (transition_id);

ALTER TABLE ONLY public.kb_draft_outcome
    ADD CONSTRAINT kb_draft_outcome_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY public.kb_evidence
    ADD CONSTRAINT kb_evidence_pkey PRIMARY KEY (evidence_id);

ALTER TABLE ONLY public.kb_ground_truth
    ADD CONSTRAINT kb_ground_truth_pkey PRIMARY KEY (org_id, specialist_id, query_sha, doc_id);

ALTER TABLE ONLY public.kb_query
    ADD CONSTRAINT kb_query_pkey PRIMARY KEY (org_id, specialist_id, query_sha);

ALTER TABLE ONLY public.kb_retrieval_day
    ADD CONSTRAINT kb_retrieval_day_pkey PRIMARY KEY (day, org_id, specialist_id, engine);

ALTER TABLE ONLY public.kb_retrieval_event_conflict
    ADD CONSTRAINT kb_retrieval_event_conflict_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.kb_retrieval_event
    ADD CONSTRAINT kb_retrieval_event_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.kb_retrieval_gap
    ADD CONSTRAINT kb_retrieval_gap_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY public.kb_retrieval_window
    ADD CONSTRAINT kb_retrieval_window_pkey PRIMARY KEY (hour, org_id, specialist_id, engine);

ALTER TABLE ONLY public.kb_search_event
    ADD CONSTRAINT kb_search_event_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.rag_call
    ADD CONSTRAINT rag_call_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY public.rag_call_window
    ADD CONSTRAINT rag_call_window_pkey PRIMARY KEY (hour, tenant, surface, engine);

ALTER TABLE ONLY public.rag_judge_calibration
    ADD CONSTRAINT rag_judge_calibration_pkey PRIMARY KEY (day, judge_model, prompt_version, language, label_kind);

ALTER TABLE ONLY public.rag_judge_canary
    ADD CONSTRAINT rag_judge_canary_pkey PRIMARY KEY (canary_id);

ALTER TABLE ONLY public.rag_judge_outage
    ADD CONSTRAINT rag_judge_outage_pkey PRIMARY KEY (judge_model);

ALTER TABLE ONLY public.rag_judge_score
    ADD CONSTRAINT rag_judge_score_pkey PRIMARY KEY (event_id, judge_model, prompt_version);

ALTER TABLE ONLY public.rag_metric
    ADD CONSTRAINT rag_metric_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY public.rag_quality_day
    ADD CONSTRAINT rag_quality_day_pkey PRIMARY KEY (day, tenant, surface, engine, judge_model, prompt_version);

ALTER TABLE ONLY public.rag_quality
    ADD CONSTRAINT rag_quality_pkey PRIMARY KEY (event_id, ts);

ALTER TABLE ONLY public.rag_quality_window
    ADD CONSTRAINT rag_quality_window_pkey PRIMARY KEY (hour, tenant, surface, engine, judge_model, prompt_version);

ALTER TABLE ONLY public.rag_stale_hour
    ADD CONSTRAINT rag_stale_hour_pkey PRIMARY KEY (hour, stage);

ALTER TABLE ONLY public.rag_triad
    ADD CONSTRAINT rag_triad_pkey PRIMARY KEY (event_id);

CREATE INDEX kb_access_record_read_at ON public.kb_access_record USING btree (read_at);

CREATE INDEX kb_alert_outbox_dead ON public.kb_alert_outbox USING btree (destination, settled_at) WHERE (state = 'dead'::text);

CREATE INDEX kb_alert_outbox_open ON public.kb_alert_outbox USING btree (destination, queued_at) WHERE (state = ANY (ARRAY['pending'::text, 'sent'::text]));

CREATE INDEX kb_alert_silence_ends_at ON public.kb_alert_silence USING btree (ends_at);

CREATE INDEX kb_alert_state_active ON public.kb_alert_state USING btree (rule) WHERE (status = ANY (ARRAY['firing'::text, 'recovering'::text]));

CREATE INDEX kb_alert_transition_happened_at ON public.kb_alert_transition USING btree (happened_at);

CREATE INDEX kb_draft_outcome_conversation ON public.kb_draft_outcome USING btree (conversation_id);

CREATE INDEX kb_draft_outcome_decided_at ON public.kb_draft_outcome USING btree (decided_at);

CREATE INDEX kb_draft_outcome_drafted_at ON public.kb_draft_outcome USING btree (drafted_at);

CREATE INDEX kb_draft_outcome_org_spec ON public.kb_draft_outcome USING btree (org_id, specialist_id, decided_at);

CREATE INDEX kb_draft_outcome_pending ON public.kb_draft_outcome USING btree (drafted_at) WHERE (outcome = 'pending'::text);

CREATE INDEX kb_draft_outcome_trace ON public.kb_draft_outcome USING btree (trace_id) WHERE (trace_id IS NOT NULL);

CREATE UNIQUE INDEX kb_evidence_draft_uq ON public.kb_evidence USING btree (message_id, query_sha, doc_id, kind) WHERE ((superseded_at IS NULL) AND (message_id IS NOT NULL) AND (search_event_id IS NULL) AND (kind <> 'settled'::text));

CREATE INDEX kb_evidence_judgment ON public.kb_evidence USING btree (org_id, specialist_id, query_sha, doc_id);

CREATE INDEX kb_evidence_message ON public.kb_evidence USING btree (message_id) WHERE (message_id IS NOT NULL);

CREATE UNIQUE INDEX kb_evidence_search_uq ON public.kb_evidence USING btree (search_event_id, doc_id, kind) WHERE ((superseded_at IS NULL) AND (search_event_id IS NOT NULL));

CREATE INDEX kb_ground_truth_conflicts ON public.kb_ground_truth USING btree (org_id, specialist_id) WHERE (status = 'conflict'::text);

CREATE INDEX kb_query_preview_to_expire ON public.kb_query USING btree (last_seen_at) WHERE (query_preview IS NOT NULL);

CREATE INDEX kb_retrieval_event_conflict_created_at ON public.kb_retrieval_event_conflict USING brin (created_at);

CREATE INDEX kb_retrieval_event_conflict_message ON public.kb_retrieval_event_conflict USING btree (message_id);

CREATE INDEX kb_retrieval_event_conversation ON public.kb_retrieval_event USING btree (conversation_id);

CREATE INDEX kb_retrieval_event_created_at ON public.kb_retrieval_event USING brin (created_at);

CREATE UNIQUE INDEX kb_retrieval_event_message_uq ON public.kb_retrieval_event USING btree (message_id) WHERE (message_id IS NOT NULL);

CREATE INDEX kb_retrieval_event_occurred_at ON public.kb_retrieval_event USING btree (occurred_at);

CREATE INDEX kb_retrieval_event_org_spec_time ON public.kb_retrieval_event USING btree (org_id, specialist_id, created_at DESC);

CREATE INDEX kb_retrieval_event_query ON public.kb_retrieval_event USING btree (org_id, specialist_id, query_sha);

CREATE INDEX kb_retrieval_event_text_to_expire ON public.kb_retrieval_event USING btree (occurred_at) WHERE (text_expired_at IS NULL);

CREATE INDEX kb_retrieval_event_to_note ON public.kb_retrieval_event USING btree (created_at) WHERE (noted_at IS NULL);

CREATE INDEX kb_retrieval_gap_decided_at ON public.kb_retrieval_gap USING btree (decided_at);

CREATE INDEX kb_retrieval_gap_org_spec ON public.kb_retrieval_gap USING btree (org_id, specialist_id, kind, subject);

CREATE INDEX kb_search_event_conversation ON public.kb_search_event USING btree (conversation_id) WHERE (conversation_id IS NOT NULL);

CREATE INDEX kb_search_event_harvested_by ON public.kb_search_event USING btree (harvested_by);

CREATE INDEX kb_search_event_message ON public.kb_search_event USING btree (message_id) WHERE (message_id IS NOT NULL);

CREATE INDEX kb_search_event_occurred_at ON public.kb_search_event USING btree (occurred_at);

CREATE INDEX kb_search_event_org_spec_time ON public.kb_search_event USING btree (org_id, specialist_id, created_at DESC);

CREATE INDEX kb_search_event_query ON public.kb_search_event USING btree (org_id, specialist_id, query_sha) WHERE (query_sha IS NOT NULL);

CREATE INDEX kb_search_event_search ON public.kb_search_event USING btree (search_id);

CREATE INDEX kb_search_event_text_to_expire ON public.kb_search_event USING btree (occurred_at) WHERE ((text_expired_at IS NULL) AND (event_type = 'kb.search.performed'::text));

CREATE INDEX kb_search_event_to_note ON public.kb_search_event USING btree (created_at) WHERE ((noted_at IS NULL) AND (event_type = 'kb.search.performed'::text));

CREATE INDEX rag_call_ts ON public.rag_call USING btree (ts);

CREATE INDEX rag_judge_canary_asked_at ON public.rag_judge_canary USING btree (asked_at);

CREATE INDEX rag_judge_score_judged_at ON public.rag_judge_score USING btree (judged_at);

CREATE INDEX rag_judge_score_open ON public.rag_judge_score USING btree (ts) WHERE (status = ANY (ARRAY['claimed'::text, 'error'::text]));

CREATE INDEX rag_judge_score_ts ON public.rag_judge_score USING btree (ts);

CREATE INDEX rag_metric_no_opinion ON public.rag_metric USING btree (ts) WHERE (opinion_version IS NULL);

CREATE INDEX rag_metric_ts ON public.rag_metric USING btree (ts);

CREATE INDEX rag_quality_disagreement ON ONLY public.rag_quality USING btree (ts) WHERE (disagreement >= (0.7)::double precision);

CREATE INDEX rag_quality_open ON ONLY public.rag_quality USING btree (ts) WHERE (judge_status = ANY (ARRAY['pending'::text, 'error'::text, 'disabled'::text]));

CREATE INDEX rag_quality_surface_ts ON ONLY public.rag_quality USING btree (surface, ts);

CREATE INDEX rag_quality_ts ON ONLY public.rag_quality USING btree (ts);

CREATE INDEX rag_quality_worst ON ONLY public.rag_quality USING btree (faithfulness, ts DESC, surface, engine, tenant) WHERE (faithfulness IS NOT NULL);

CREATE INDEX rag_triad_text_to_expire ON public.rag_triad USING btree (ts) WHERE (text_expired_at IS NULL);

CREATE INDEX rag_triad_ts ON public.rag_triad USING btree (ts);

REVOKE ALL ON FUNCTION public.kb_ensure_rag_quality_partition(at_instant timestamp with time zone) FROM PUBLIC;
