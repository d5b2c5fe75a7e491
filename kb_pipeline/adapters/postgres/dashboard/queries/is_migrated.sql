-- Whether the tables that the service reads are there.
SELECT to_regclass('public.rag_quality_window') IS NOT NULL AND to_regclass('public.kb_retrieval_day') IS NOT NULL
