-- Zips of problem sets between their preview and its confirmation. They are of nobody else's concern than their
-- creator's, and are gone after an hour.
CREATE TABLE IF NOT EXISTS uploads (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  creator_id BIGINT UNSIGNED NOT NULL,
  file_name  VARCHAR(255) NOT NULL,
  content    LONGBLOB NOT NULL,
  created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  expires_at DATETIME(3) NOT NULL,
  KEY uploads_creator (creator_id, id),
  KEY uploads_expires (expires_at),
  CONSTRAINT uploads_creator FOREIGN KEY (creator_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- What runs never changes within a version; what is only read, such as the description, may, and is counted here.
ALTER TABLE task_versions ADD COLUMN IF NOT EXISTS revision INT UNSIGNED NOT NULL DEFAULT 0
  COMMENT 'grows when the description, templates or samples are rewritten';
