-- Optional: row-level security for tenants who read their own rows with SQL. Safe to run again; run it after
-- `kb-pipeline migrate` and sql/roles.sql, as the owner of the tables, who may create roles:
--
--   psql "$DATABASE_URL" --single-transaction --set ON_ERROR_STOP=1 --file rls.sql
--
-- It makes the role kb_tenant_reader, which cannot log in. Its members see the rows of one tenant, the one that the
-- session names, and nothing before it names one:
--
--   SET kb.org_id = '…'; SET kb.specialist_id = '…';
--
-- Whoever can send SQL can also send another SET. So the settings are for an application that reads on behalf of its
-- users and sets them itself, as it does with any other filter; a policy makes one that is forgotten harmless. It is no
-- fence around a person with a database login of his own.
--
-- Owner and superusers are not bound by it, and the pipeline's roles see every row as before. Anybody else who read these
-- tables by a grant of your own sees nothing from now on: make him a member of kb_api_reader or kb_auditor.
-- To take it back: ALTER TABLE … DISABLE ROW LEVEL SECURITY for each of the nine tables below.

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'kb_tenant_reader') THEN
    CREATE ROLE kb_tenant_reader NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;  -- made meanwhile from another database of the same server
END $$;

GRANT USAGE ON SCHEMA public TO kb_tenant_reader;

DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY[
    'kb_retrieval_event', 'kb_retrieval_event_conflict', 'kb_search_event', 'kb_query', 'kb_draft_outcome',
    'kb_evidence', 'kb_ground_truth', 'kb_retrieval_gap', 'kb_retrieval_window', 'kb_retrieval_day'
  ] LOOP
    EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('DROP POLICY IF EXISTS kb_pipeline_sees_all ON public.%I', table_name);
    EXECUTE format(
      'CREATE POLICY kb_pipeline_sees_all ON public.%I AS PERMISSIVE FOR ALL'
      ' TO kb_writer, kb_grader, kb_recorder, kb_api_reader, kb_auditor USING (true) WITH CHECK (true)',
      table_name);
    EXECUTE format('DROP POLICY IF EXISTS kb_tenant_sees_its_own ON public.%I', table_name);
    EXECUTE format(
      'CREATE POLICY kb_tenant_sees_its_own ON public.%I AS PERMISSIVE FOR SELECT TO kb_tenant_reader USING ('
      'org_id = nullif(current_setting(''kb.org_id'', true), '''')::uuid'
      ' AND specialist_id = nullif(current_setting(''kb.specialist_id'', true), '''')::uuid)',
      table_name);
    EXECUTE format('REVOKE ALL ON public.%I FROM kb_tenant_reader', table_name);
    EXECUTE format('GRANT SELECT ON public.%I TO kb_tenant_reader', table_name);
  END LOOP;
END $$;

-- A view reads with its owner's rights, past every policy. From PostgreSQL 15 on it can be told to read with those of
-- whoever asks; on 14 tenants do without it.
REVOKE ALL ON public.kb_gap_task FROM kb_tenant_reader;
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 150000 THEN
    ALTER VIEW public.kb_gap_task SET (security_invoker = true);
    GRANT SELECT ON public.kb_gap_task TO kb_tenant_reader;
  END IF;
END $$;
