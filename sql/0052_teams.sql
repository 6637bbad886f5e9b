-- Teams of contests (lib/account/team.h). A team is an account that nobody can log into: its submissions, quotas and
-- ranks work as a person's.
ALTER TABLE users
  ADD COLUMN IF NOT EXISTS kind ENUM('person', 'team') NOT NULL DEFAULT 'person' COMMENT 'nobody logs into a team';

ALTER TABLE contests
  ADD COLUMN IF NOT EXISTS team_members INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'of a team, at most; 0: no teams';

CREATE TABLE IF NOT EXISTS teams (
  user_id    BIGINT UNSIGNED NOT NULL PRIMARY KEY COMMENT 'the account of the team',
  contest_id BIGINT UNSIGNED NOT NULL,
  code       VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'with which people join',
  locked_at  DATETIME(3) NULL COMMENT 'when the first ranked submission was stored; NULL: not yet',
  UNIQUE KEY teams_code (code),
  KEY teams_contest (contest_id),
  CONSTRAINT teams_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
  CONSTRAINT teams_contest FOREIGN KEY (contest_id) REFERENCES contests (id)
) ENGINE = InnoDB;

-- contest_id is the team's, so that the database itself keeps a person from being in two teams of a contest.
CREATE TABLE IF NOT EXISTS team_members (
  team_id    BIGINT UNSIGNED NOT NULL,
  user_id    BIGINT UNSIGNED NOT NULL,
  contest_id BIGINT UNSIGNED NOT NULL,
  joined_at  DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (team_id, user_id),
  UNIQUE KEY team_members_once (user_id, contest_id),
  CONSTRAINT team_members_team FOREIGN KEY (team_id) REFERENCES teams (user_id) ON DELETE CASCADE,
  CONSTRAINT team_members_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;
