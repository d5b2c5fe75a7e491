-- Says by which rules these steps were read.
UPDATE kb_search_event AS event SET harvested_by = %(rules)s FROM stage_search AS step WHERE event.id = step.id
