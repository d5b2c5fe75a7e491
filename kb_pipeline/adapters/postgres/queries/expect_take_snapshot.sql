-- The name under which other sessions see the database as this transaction does.
SELECT pg_export_snapshot()
