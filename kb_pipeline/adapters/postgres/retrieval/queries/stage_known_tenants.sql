-- The tenants that the knowledge base shows at all.
INSERT INTO stage_known_tenant (org_id, specialist_id)
SELECT DISTINCT org_id, specialist_id FROM kb_source.kb_chunk
