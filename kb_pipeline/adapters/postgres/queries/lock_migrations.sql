-- Held to the end of the transaction: processes that migrate together take turns.
SELECT pg_advisory_xact_lock(hashtext('kb_pipeline migrations'))
