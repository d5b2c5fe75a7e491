-- absent_queue
-- The experts' queue of an operator who has none: no rows.
SELECT
  NULL::uuid AS message_id, NULL::text AS status, NULL::text AS rejection_reason, NULL::timestamptz AS opened_at,
  NULL::timestamptz AS decided_at, NULL::timestamptz AS updated_at
WHERE false
