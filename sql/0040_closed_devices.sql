-- A device that is added to a leaderboard takes no submissions until a check that began later has passed on it
-- (lib/leaderboard/publication.h). Devices from before stay open.

ALTER TABLE leaderboard_gpus
  ADD COLUMN IF NOT EXISTS closed_at DATETIME(3) NULL COMMENT 'since when the device waits for its check; NULL: it takes submissions',
  ADD KEY IF NOT EXISTS leaderboard_gpus_closed (closed_at);
