-- Evaluations take turns; held to the end of the transaction.
SELECT pg_advisory_xact_lock(hashtext('kb_alert_evaluation'))
