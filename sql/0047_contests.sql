-- Contests: leaderboards that begin and end together and have one scoreboard (lib/contest/contest.h).

CREATE TABLE IF NOT EXISTS contests (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name           VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  title          VARCHAR(120) NOT NULL,
  creator_id     BIGINT UNSIGNED NULL,
  starts_at      DATETIME(3) NOT NULL,
  ends_at        DATETIME(3) NOT NULL,
  rules          TEXT NOT NULL COMMENT 'Markdown',
  registration   ENUM('open', 'code', 'closed') NOT NULL DEFAULT 'open',
  code           VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'of the registration',
  scoring        ENUM('ranks', 'ratios', 'mean') NOT NULL DEFAULT 'ranks',
  points         VARCHAR(1000) CHARACTER SET ascii NOT NULL DEFAULT '' COMMENT 'for each rank; empty: the usual table',
  freeze_minutes INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'before the end; 0: no freeze',
  started_at     DATETIME(3) NULL COMMENT 'when the start was noticed and told; NULL: not yet',
  ended_at       DATETIME(3) NULL COMMENT 'likewise of the end',
  final_at       DATETIME(3) NULL COMMENT 'when the standings were declared final; NULL: not yet',
  created_at     DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  UNIQUE KEY contests_name (name),
  KEY contests_ends (ends_at),
  CONSTRAINT contests_creator FOREIGN KEY (creator_id) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- A leaderboard belongs to one contest at most.
CREATE TABLE IF NOT EXISTS contest_problems (
  leaderboard_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  contest_id     BIGINT UNSIGNED NOT NULL,
  position       SMALLINT UNSIGNED NOT NULL,
  KEY contest_problems_contest (contest_id, position),
  CONSTRAINT contest_problems_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT contest_problems_contest FOREIGN KEY (contest_id) REFERENCES contests (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- The accounts that are registered.
CREATE TABLE IF NOT EXISTS contest_entrants (
  contest_id    BIGINT UNSIGNED NOT NULL,
  user_id       BIGINT UNSIGNED NOT NULL,
  registered_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (contest_id, user_id),
  KEY contest_entrants_user (user_id),
  CONSTRAINT contest_entrants_contest FOREIGN KEY (contest_id) REFERENCES contests (id) ON DELETE CASCADE,
  CONSTRAINT contest_entrants_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

ALTER TABLE webhooks
  MODIFY events SET('record', 'ranked', 'job', 'opened', 'ended', 'contest_started', 'contest_ended', 'standings_final') NOT NULL;
ALTER TABLE webhook_events
  MODIFY event ENUM('record', 'ranked', 'job', 'opened', 'ended', 'test', 'contest_started', 'contest_ended', 'standings_final') NOT NULL;
