-- A side that fails in a comparison loses it.
ALTER TABLE comparisons
  ADD COLUMN IF NOT EXISTS loser ENUM('challenger', 'incumbent') CHARACTER SET ascii NULL
    COMMENT 'the side whose failure ended the run; then there is no ratio' AFTER ratio_high;
ALTER TABLE endings
  ADD COLUMN IF NOT EXISTS loser ENUM('challenger', 'incumbent') CHARACTER SET ascii NULL
    COMMENT 'as comparisons.loser' AFTER ratio_high;
