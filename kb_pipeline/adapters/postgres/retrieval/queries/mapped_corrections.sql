-- mapped_corrections
-- Corrections, where the operator mapped them.
SELECT correction_id, message_id, original_text, corrected_text, created_at FROM kb_source.correction
