-- Scores of a judge that is tried beside another one.

ALTER TABLE rag_judge_score ADD COLUMN provisional boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN rag_judge_score.provisional IS 'Given by a rejudge beside the score of another version: not published, and settling no turn, until its version is the configured one at a publication.';
