-- Turns rag_quality from monthly partitions into a hypertable of weekly chunks and keeps its rows. Run by
-- `kb-pipeline migrate --timescale` inside its transaction; does nothing when it is one already.

CREATE EXTENSION IF NOT EXISTS timescaledb;

DO $$
DECLARE
  extension_schema text;
  table_comment    text := obj_description('public.rag_quality'::regclass, 'pg_class');
  primary_key      text;
  indexes          text[];
  definition       text;
BEGIN
  IF (SELECT relkind FROM pg_class WHERE oid = 'public.rag_quality'::regclass) <> 'p' THEN
    RETURN;
  END IF;
  LOCK TABLE public.rag_quality IN ACCESS EXCLUSIVE MODE;
  SELECT nspname INTO extension_schema
  FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'timescaledb';
  SELECT pg_get_constraintdef(oid) INTO primary_key
  FROM pg_constraint WHERE conrelid = 'public.rag_quality'::regclass AND contype = 'p';
  -- A partitioned index is printed as ON ONLY; its successor is an ordinary one.
  SELECT array_agg(replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')) INTO indexes
  FROM pg_index WHERE indrelid = 'public.rag_quality'::regclass AND NOT indisprimary;

  ALTER TABLE public.rag_quality RENAME TO rag_quality_by_month;
  CREATE TABLE public.rag_quality (
    LIKE public.rag_quality_by_month INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS);
  EXECUTE format(
    'SELECT %I.create_hypertable(%L::regclass, %L, chunk_time_interval => interval %L, create_default_indexes => false)',
    extension_schema, 'public.rag_quality', 'ts', '7 days');
  INSERT INTO public.rag_quality SELECT * FROM public.rag_quality_by_month;
  DROP TABLE public.rag_quality_by_month;

  EXECUTE 'ALTER TABLE public.rag_quality ADD CONSTRAINT rag_quality_pkey ' || primary_key;
  FOREACH definition IN ARRAY indexes LOOP
    EXECUTE definition;
  END LOOP;
  EXECUTE format('COMMENT ON TABLE public.rag_quality IS %L', table_comment);
END $$;
