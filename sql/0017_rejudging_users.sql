-- Rejudging a user's results on every leaderboard at once: it is the user's then, and no leaderboard's.
ALTER TABLE rejudgings
  MODIFY COLUMN leaderboard_id BIGINT UNSIGNED NULL,
  ADD COLUMN IF NOT EXISTS user_id BIGINT UNSIGNED NULL COMMENT 'where leaderboard_id is NULL' AFTER leaderboard_id,
  ADD CONSTRAINT rejudgings_user FOREIGN KEY IF NOT EXISTS (user_id) REFERENCES users (id) ON DELETE CASCADE,
  ADD CONSTRAINT IF NOT EXISTS rejudgings_one_subject CHECK ((leaderboard_id IS NULL) <> (user_id IS NULL));

-- A device that an admin does not trust: as paused, and pages say why.
ALTER TABLE pauses
  MODIFY COLUMN kind ENUM('drain', 'pause', 'quarantine') NOT NULL COMMENT 'drain: the running job ends first',
  ADD COLUMN IF NOT EXISTS reason VARCHAR(500) NULL COMMENT 'of a quarantine: one sentence, for admins';
