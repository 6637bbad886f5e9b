-- What a page says about a rank beside its number: whether it is shared, how far the group above is, and why the entry does not
-- rank where its time alone would put it (lib/ranking/order.h). podium-admin migrate fills the columns of older rankings.

ALTER TABLE ranking
  ADD COLUMN IF NOT EXISTS tied BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'other entries have the same place',
  ADD COLUMN IF NOT EXISTS above_ns DOUBLE NULL COMMENT 'the fastest time of the group above; NULL: this is the first group',
  ADD COLUMN IF NOT EXISTS reason ENUM('slower', 'failed', 'circle', 'tie', 'chain') CHARACTER SET ascii NULL
    COMMENT 'NULL: its time alone gives the same rank',
  ADD COLUMN IF NOT EXISTS other_id BIGINT UNSIGNED NULL COMMENT 'submissions.id: whom the reason names',
  ADD KEY IF NOT EXISTS ranking_score (leaderboard_id, task_version_id, gpu, score_ns);

ALTER TABLE jobs
  ADD COLUMN IF NOT EXISTS tied_before BOOLEAN NULL COMMENT 'others shared place_before' AFTER place_before,
  ADD COLUMN IF NOT EXISTS tied_after BOOLEAN NULL COMMENT 'others shared place_after' AFTER place_after;
