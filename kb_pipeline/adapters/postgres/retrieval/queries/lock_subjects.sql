-- Held to the end of the transaction: two runs that name subjects take turns, so that the last one saw every diagnosis.
SELECT pg_advisory_xact_lock(hashtext('kb_pipeline subjects'))
