-- Whether the tables of alerts are there.
SELECT to_regclass('public.kb_alert_state') IS NOT NULL AND to_regclass('public.kb_alert_transition') IS NOT NULL
