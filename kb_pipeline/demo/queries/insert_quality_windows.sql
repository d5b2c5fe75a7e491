INSERT INTO rag_quality_window
SELECT * FROM jsonb_populate_recordset(NULL::rag_quality_window, %(rows)s)
ON CONFLICT DO NOTHING
