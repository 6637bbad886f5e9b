-- Who may see a leaderboard and until when it counts.

ALTER TABLE leaderboards
  ADD COLUMN IF NOT EXISTS visibility  ENUM('public', 'closed', 'hidden') NOT NULL DEFAULT 'public'
    COMMENT 'closed: its members see it; hidden: its creator and admins alone',
  ADD COLUMN IF NOT EXISTS practice    BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'takes submissions after the deadline, without a rank',
  ADD COLUMN IF NOT EXISTS frozen_at   DATETIME(3) NULL COMMENT 'what ends later is not ranked before this is NULL again',
  ADD COLUMN IF NOT EXISTS archived_at DATETIME(3) NULL COMMENT 'takes no submissions, and is not on the front page';

-- It was handed in after the deadline: it runs like any other and is never ranked.
ALTER TABLE submissions ADD COLUMN IF NOT EXISTS practice BOOLEAN NOT NULL DEFAULT FALSE;

-- A version of a task that was uploaded and not switched to yet: its creator and admins see it.
ALTER TABLE task_versions ADD COLUMN IF NOT EXISTS draft BOOLEAN NOT NULL DEFAULT FALSE;

-- Who may see a closed leaderboard.
CREATE TABLE IF NOT EXISTS leaderboard_members (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  user_id        BIGINT UNSIGNED NOT NULL,
  joined_at      DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (leaderboard_id, user_id),
  KEY leaderboard_members_user (user_id),
  CONSTRAINT leaderboard_members_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT leaderboard_members_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- Who was removed: no code makes a member of them again before the leaderboard's creator lets them back in.
CREATE TABLE IF NOT EXISTS leaderboard_removals (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  user_id        BIGINT UNSIGNED NOT NULL,
  removed_at     DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (leaderboard_id, user_id),
  KEY leaderboard_removals_user (user_id),
  CONSTRAINT leaderboard_removals_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT leaderboard_removals_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- Codes that make members. They are kept as they are, so that whoever made one can look it up and hand it on; all that
-- one gives is a seat, and it can be revoked.
CREATE TABLE IF NOT EXISTS invites (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  code       VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  note       VARCHAR(80) NOT NULL DEFAULT '' COMMENT 'for whom it is, in the words of whoever made it',
  most_uses  INT UNSIGNED NULL COMMENT 'NULL: as often as one likes',
  uses       INT UNSIGNED NOT NULL DEFAULT 0,
  expires_at DATETIME(3) NULL,
  revoked_at DATETIME(3) NULL,
  created_by BIGINT UNSIGNED NULL,
  created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  UNIQUE KEY invites_code (code),
  KEY invites_creator (created_by, id),
  CONSTRAINT invites_creator FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS invite_leaderboards (
  invite_id      BIGINT UNSIGNED NOT NULL,
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (invite_id, leaderboard_id),
  KEY invite_leaderboards_leaderboard (leaderboard_id),
  CONSTRAINT invite_leaderboards_invite FOREIGN KEY (invite_id) REFERENCES invites (id) ON DELETE CASCADE,
  CONSTRAINT invite_leaderboards_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- A dry run of a version of a task: submissions whose verdicts are known beforehand, run on each device. They are their
-- creator's and never ranked.
CREATE TABLE IF NOT EXISTS dry_runs (
  id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  task_version_id BIGINT UNSIGNED NOT NULL,
  started_by      VARCHAR(32) CHARACTER SET ascii NOT NULL COMMENT 'users.name',
  started_at      DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  KEY dry_runs_version (task_version_id, id),
  CONSTRAINT dry_runs_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id) ON DELETE CASCADE
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS dry_run_entries (
  submission_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  dry_run_id    BIGINT UNSIGNED NOT NULL,
  purpose       VARCHAR(255) NOT NULL COMMENT 'the reference, samples/right.py, ...',
  expected      VARCHAR(24) CHARACTER SET ascii NULL COMMENT 'a verdict; NULL: any but passed',
  KEY dry_run_entries_run (dry_run_id, submission_id),
  CONSTRAINT dry_run_entries_run FOREIGN KEY (dry_run_id) REFERENCES dry_runs (id) ON DELETE CASCADE,
  CONSTRAINT dry_run_entries_submission FOREIGN KEY (submission_id) REFERENCES submissions (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
