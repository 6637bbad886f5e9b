-- Until when a user has read the news of a leaderboard: answers for everybody and announcements (lib/news/news.h).
-- No row: nothing was read. A row is written when the user marks the news as read, not for each piece of news.
CREATE TABLE IF NOT EXISTS news_seen (
  user_id        BIGINT UNSIGNED NOT NULL,
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  seen_until     DATETIME(3) NOT NULL,
  PRIMARY KEY (user_id, leaderboard_id),
  KEY news_seen_leaderboard (leaderboard_id),
  CONSTRAINT news_seen_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
  CONSTRAINT news_seen_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB;
