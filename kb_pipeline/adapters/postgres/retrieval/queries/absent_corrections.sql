-- absent_corrections
-- The corrections of an operator who has none: no rows.
SELECT
  NULL::uuid AS correction_id, NULL::uuid AS message_id, NULL::text AS original_text, NULL::text AS corrected_text,
  NULL::timestamptz AS created_at
WHERE false
