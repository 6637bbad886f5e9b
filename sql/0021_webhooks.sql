-- Webhooks: what happens on a leaderboard, told to an address that somebody else runs. docs/webhooks.md says which of it.

CREATE TABLE IF NOT EXISTS webhooks (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  leaderboard_id BIGINT UNSIGNED NULL COMMENT 'NULL: of all public leaderboards',
  name           VARCHAR(64) NOT NULL,
  address        VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'may be as good as a password: pages show its host',
  form           ENUM('json', 'discord') NOT NULL,
  events         SET('record', 'ranked', 'job', 'opened', 'ended') NOT NULL,
  secret         VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'what it tells is signed with it, so it is kept as it is',
  state          ENUM('active', 'paused', 'off') NOT NULL DEFAULT 'active' COMMENT 'off: it failed too often',
  reason         VARCHAR(500) NULL COMMENT 'of off: one sentence',
  failures       INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'attempts that failed since the last that did not',
  retry_at       DATETIME(3) NULL COMMENT 'nothing is sent there before',
  fence          BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'grows with each claim; outcomes carry it',
  lease_expires  DATETIME(3) NULL COMMENT 'somebody sends there until then',
  created_by     BIGINT UNSIGNED NULL,
  created_at     DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  KEY webhooks_leaderboard (leaderboard_id),
  KEY webhooks_state (state, retry_at),
  CONSTRAINT webhooks_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT webhooks_creator FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Written in the transaction that does what they tell. Neither these nor the deliveries have foreign keys: whoever ends a
-- job would wait for a sender's lock then. What is left of a webhook that is gone podium-hooks removes.
CREATE TABLE IF NOT EXISTS webhook_events (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  event          ENUM('record', 'ranked', 'job', 'opened', 'ended', 'test') NOT NULL,
  leaderboard_id BIGINT UNSIGNED NULL,
  job_id         BIGINT UNSIGNED NULL,
  data           TEXT NOT NULL COMMENT 'JSON',
  at             DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  KEY webhook_events_at (at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS webhook_deliveries (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  webhook_id BIGINT UNSIGNED NOT NULL,
  event_id   BIGINT UNSIGNED NOT NULL,
  state      ENUM('waiting', 'delivered', 'failed', 'withheld') NOT NULL DEFAULT 'waiting'
    COMMENT 'withheld: it may not be told any more',
  attempts   INT UNSIGNED NOT NULL DEFAULT 0,
  next_at    DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3) COMMENT 'of the next attempt',
  status     SMALLINT UNSIGNED NULL COMMENT 'of HTTP, of the last answer; NULL: there was none',
  sentence   VARCHAR(500) NOT NULL DEFAULT '' COMMENT 'what came of the last attempt',
  tried_at   DATETIME(3) NULL COMMENT 'the last time',
  UNIQUE KEY webhook_deliveries_event (webhook_id, event_id),
  KEY webhook_deliveries_due (webhook_id, state, next_at),
  KEY webhook_deliveries_of_event (event_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- What was told last of whether a leaderboard takes submissions for its ranking: a deadline passes without anybody writing.
-- Not a column of leaderboards: those who submit share locks on that row.
CREATE TABLE IF NOT EXISTS webhook_told (
  leaderboard_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  is_open        BOOLEAN NOT NULL COMMENT 'opened was told, and ended was not yet'
) ENGINE = InnoDB;
INSERT IGNORE INTO webhook_told (leaderboard_id, is_open)
  SELECT id, visibility <> 'hidden' AND accepting AND archived_at IS NULL AND (deadline IS NULL OR deadline > UTC_TIMESTAMP(3)) FROM leaderboards;
