-- Roles on single leaderboards (lib/leaderboard/role.h). The leaderboard's creator has no row here.
CREATE TABLE IF NOT EXISTS leaderboard_roles (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  user_id        BIGINT UNSIGNED NOT NULL,
  role           ENUM('co-creator', 'jury') NOT NULL,
  given_by       VARCHAR(32) CHARACTER SET ascii NOT NULL COMMENT 'users.name, or a program',
  given_at       DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (leaderboard_id, user_id),
  KEY leaderboard_roles_user (user_id),
  CONSTRAINT leaderboard_roles_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT leaderboard_roles_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;
