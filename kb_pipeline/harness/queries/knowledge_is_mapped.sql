-- Whether the operator mapped the knowledge base.
SELECT to_regclass('kb_source.kb_chunk') IS NOT NULL
