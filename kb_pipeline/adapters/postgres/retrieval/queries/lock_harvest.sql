-- Held to the end of the transaction: two harvests that read the same draft or search take turns.
SELECT pg_advisory_xact_lock(hashtext('kb_pipeline harvest'))
