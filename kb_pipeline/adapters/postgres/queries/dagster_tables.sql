-- Whether Dagster keeps its own storage in this database.
SELECT to_regclass('public.event_logs') IS NOT NULL AND to_regclass('public.run_tags') IS NOT NULL
