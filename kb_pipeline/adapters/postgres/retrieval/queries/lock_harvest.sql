-- Held to the end of the transaction: two harvests that read the same draft or search take turns, and
-- so do they, the diagnosis and whoever forgets drafts: what the source deleted must not come back.
SELECT pg_advisory_xact_lock(hashtext('kb_pipeline harvest'))
