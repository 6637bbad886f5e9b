-- What participants do with their submissions: a note, withdrawing, and what a result changed.

ALTER TABLE submissions
  ADD COLUMN IF NOT EXISTS note VARCHAR(500) NOT NULL DEFAULT '' COMMENT 'of its author to himself; for him and admins',
  ADD COLUMN IF NOT EXISTS withdrawn_at DATETIME(3) NULL COMMENT 'by its author: it is not ranked',
  ADD KEY IF NOT EXISTS submissions_user (user_id, id),
  ADD KEY IF NOT EXISTS submissions_user_time (user_id, submitted_at),
  ADD KEY IF NOT EXISTS submissions_history_time (user_id, leaderboard_id, submitted_at);

-- As it was when the job came into the ranking; later changes are not written here.
ALTER TABLE jobs
  ADD COLUMN IF NOT EXISTS best_before_ns DOUBLE NULL COMMENT 'its user''s ranked score before; NULL: he had none',
  ADD COLUMN IF NOT EXISTS place_before INT UNSIGNED NULL COMMENT 'its user''s place before',
  ADD COLUMN IF NOT EXISTS place_after INT UNSIGNED NULL COMMENT 'NULL: it was not better, or is not ranked';
