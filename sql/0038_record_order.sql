-- Records follow the order in which results were ranked, not the order of submission. podium-admin migrate recomputes older ones.

ALTER TABLE jobs
  ADD COLUMN IF NOT EXISTS ranked_at DATETIME(3) NULL
    COMMENT 'when the result entered a ranking: finished, or released from review; NULL: finished_at counts' AFTER finished_at;

ALTER TABLE records
  ADD COLUMN IF NOT EXISTS ranked_at DATETIME(3) NULL COMMENT 'NULL: from a version that ordered by submission';
