-- The dashboard: the worst answers of any period by an index.

-- The filters' columns are in it, so that turns of other surfaces are passed over without being read.
CREATE INDEX rag_quality_worst ON rag_quality (faithfulness, ts DESC, surface, engine, tenant) WHERE faithfulness IS NOT NULL;
