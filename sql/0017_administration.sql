-- What admins do, continued: rejudging over leaderboards, quarantine, searching the audit log.

-- Rejudging a user's results on every leaderboard at once: it is the user's then, and no leaderboard's.
ALTER TABLE rejudgings
  MODIFY COLUMN leaderboard_id BIGINT UNSIGNED NULL,
  ADD COLUMN IF NOT EXISTS user_id BIGINT UNSIGNED NULL COMMENT 'where leaderboard_id is NULL' AFTER leaderboard_id,
  ADD COLUMN IF NOT EXISTS jobs INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'results that it was started with' AFTER scope,
  ADD CONSTRAINT rejudgings_user FOREIGN KEY IF NOT EXISTS (user_id) REFERENCES users (id) ON DELETE CASCADE,
  ADD CONSTRAINT IF NOT EXISTS rejudgings_one_subject CHECK ((leaderboard_id IS NULL) <> (user_id IS NULL));
UPDATE rejudgings g SET jobs = (SELECT COUNT(*) FROM rejudged_jobs r WHERE r.rejudging_id = g.id);

-- A device that an admin does not trust: as paused, and pages say why.
ALTER TABLE pauses
  MODIFY COLUMN kind ENUM('drain', 'pause', 'quarantine') NOT NULL COMMENT 'drain: the running job ends first',
  ADD COLUMN IF NOT EXISTS reason VARCHAR(500) NULL COMMENT 'of a quarantine: one sentence, for admins';

-- The audit log is searched by who did what.
ALTER TABLE audit_log ADD KEY IF NOT EXISTS audit_log_actor_action (actor, action, id);
-- The kinds of changes that there are, which would have to be gathered from all of the log.
CREATE TABLE IF NOT EXISTS audit_actions (
  name VARCHAR(48) CHARACTER SET ascii NOT NULL PRIMARY KEY COMMENT 'audit_log.action'
) ENGINE = InnoDB;
INSERT IGNORE INTO audit_actions (name) SELECT DISTINCT action FROM audit_log;
