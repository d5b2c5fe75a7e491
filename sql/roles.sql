-- Who may do what. Safe to run again: it gives exactly these rights, on the tables that exist by then.
-- `kb-pipeline migrate` runs it where it may create roles; elsewhere a database administrator runs it once as the owner
-- of the tables. The roles cannot log in: grant them to your own users, or let kb_pipeline SET ROLE.
--
--   kb_source_reader  SELECT from schema kb_source, nothing else
--   kb_writer         reads and writes our tables, sees nothing of kb_source
--   kb_grader         kb_source_reader + kb_writer: the only role that reads bodies and writes grades
--   kb_recorder       adds events to the three event tables and reads them; nothing else: the queue's worker
--   kb_api_reader     SELECT from our tables, without the text of turns; nothing of kb_source
--   kb_auditor        kb_api_reader + kb_source_reader + the text of turns; may add to the access record
--
-- The access record and the flips of alerts can be added to and read, never changed: their owner alone could.

DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['kb_source_reader', 'kb_writer', 'kb_grader', 'kb_recorder', 'kb_api_reader', 'kb_auditor'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;  -- made meanwhile from another database of the same server
      END;
    END IF;
  END LOOP;
END $$;

DO $$
DECLARE
  granted text;
  member  text;
BEGIN
  FOR granted, member IN VALUES
    ('kb_source_reader', 'kb_grader'), ('kb_writer', 'kb_grader'),
    ('kb_source_reader', 'kb_auditor'), ('kb_api_reader', 'kb_auditor')
  LOOP
    IF NOT pg_has_role(member, granted, 'MEMBER') THEN
      BEGIN
        EXECUTE format('GRANT %I TO %I', granted, member);
      EXCEPTION WHEN unique_violation THEN
        NULL;  -- granted meanwhile from another database of the same server
      END;
    END IF;
  END LOOP;
END $$;

-- Whoever migrates may SET ROLE to each; a superuser may anyway.
DO $$
DECLARE
  role_name text;
BEGIN
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RETURN;
  END IF;
  FOREACH role_name IN ARRAY ARRAY['kb_source_reader', 'kb_writer', 'kb_grader', 'kb_recorder', 'kb_api_reader', 'kb_auditor'] LOOP
    BEGIN
      EXECUTE format('GRANT %I TO %I', role_name, current_user);
    EXCEPTION WHEN insufficient_privilege OR invalid_grant_operation OR unique_violation THEN
      NULL;  -- made by another administrator, who grants it as he sees fit
    END;
  END LOOP;
END $$;

GRANT USAGE ON SCHEMA public TO kb_writer, kb_api_reader, kb_recorder;

DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY[
    'rag_call', 'rag_triad', 'rag_metric', 'rag_judge_score', 'rag_quality', 'rag_quality_window', 'rag_quality_day',
    'rag_call_window', 'rag_stale_hour', 'rag_judge_outage', 'rag_judge_canary', 'rag_judge_calibration', 'kb_activation',
    'kb_access_record', 'kb_alembic_version', 'kb_retrieval_event', 'kb_retrieval_event_conflict', 'kb_search_event',
    'kb_query', 'kb_draft_outcome', 'kb_evidence', 'kb_ground_truth', 'kb_retrieval_gap', 'kb_gap_task',
    'kb_retrieval_window', 'kb_retrieval_day', 'kb_alert_state', 'kb_alert_transition', 'kb_alert_outbox', 'kb_alert_destination',
    'kb_alert_silence'
  ] LOOP
    CONTINUE WHEN to_regclass('public.' || table_name) IS NULL;
    EXECUTE format(
      'REVOKE ALL ON public.%I FROM kb_source_reader, kb_writer, kb_grader, kb_recorder, kb_api_reader, kb_auditor',
      table_name);
    EXECUTE format('GRANT SELECT ON public.%I TO kb_writer', table_name);
    IF table_name = 'kb_access_record' THEN
      -- Who, as which role and when are the server's word, not the reader's.
      EXECUTE format(
        'GRANT INSERT (actor, purpose, run_id, ts_from, ts_to, bodies, body_bytes) ON public.%I TO kb_writer, kb_auditor',
        table_name);
    ELSIF table_name = 'kb_alert_transition' THEN
      EXECUTE format('GRANT INSERT, DELETE ON public.%I TO kb_writer', table_name);
    ELSIF table_name NOT IN ('kb_alembic_version', 'kb_gap_task') THEN
      EXECUTE format('GRANT INSERT, UPDATE, DELETE ON public.%I TO kb_writer', table_name);
    END IF;
    IF table_name IN ('kb_retrieval_event', 'kb_retrieval_event_conflict', 'kb_search_event') THEN
      EXECUTE format('GRANT SELECT, INSERT ON public.%I TO kb_recorder', table_name);
    END IF;
    -- The text of turns is in rag_triad alone, that of queries in the next four.
    IF table_name IN (
      'rag_triad', 'kb_retrieval_event', 'kb_retrieval_event_conflict', 'kb_search_event', 'kb_query') THEN
      EXECUTE format('GRANT SELECT ON public.%I TO kb_auditor', table_name);
    ELSE
      EXECUTE format('GRANT SELECT ON public.%I TO kb_api_reader', table_name);
    END IF;
  END LOOP;
END $$;

GRANT SELECT (event_id, ts, parse_status, finish_reason, question_sha, question_preview, text_expired_at, created_at)
  ON public.rag_triad TO kb_api_reader;
DO $$
BEGIN
  IF to_regclass('public.kb_retrieval_event') IS NOT NULL THEN
    GRANT SELECT (id, org_id, specialist_id, conversation_id, message_id, engine, top_k, result_count, latency_ms,
                  retrieved, created_at, occurred_at, query_sha, candidate_pool, kb_version, degraded, shadow, trace_id,
                  text_expired_at)
      ON public.kb_retrieval_event TO kb_api_reader;
    GRANT SELECT (id, message_id, org_id, specialist_id, created_at)
      ON public.kb_retrieval_event_conflict TO kb_api_reader;
    GRANT SELECT (id, org_id, specialist_id, expert_id, conversation_id, message_id, search_id, event_type, doc_id,
                  chunk_id, rank, result_count, created_at, occurred_at, query_sha, text_expired_at)
      ON public.kb_search_event TO kb_api_reader;
    GRANT SELECT (org_id, specialist_id, query_sha, query_preview, first_seen_at, last_seen_at, text_expired_at)
      ON public.kb_query TO kb_api_reader;
    GRANT SELECT ON public.kb_alembic_version TO kb_recorder;
  END IF;
END $$;
GRANT EXECUTE ON FUNCTION public.kb_ensure_rag_quality_partition(timestamptz) TO kb_writer;

-- The views may be mapped before or after; sql/source_views.sql ends with the same grants.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'kb_source') THEN
    GRANT USAGE ON SCHEMA kb_source TO kb_source_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA kb_source TO kb_source_reader;
  END IF;
END $$;
