-- What applying a problem set of an upload created and changed. The preview shows this afterwards in
-- place of its button.
CREATE TABLE IF NOT EXISTS applied_problems (
  upload_id  BIGINT UNSIGNED NOT NULL,
  set_path   VARCHAR(255) COLLATE utf8mb4_bin NOT NULL COMMENT 'the YAML file in the zip',
  name       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL
    COMMENT 'of the leaderboard',
  is_new     BOOLEAN NOT NULL COMMENT 'created; FALSE: changed',
  PRIMARY KEY (upload_id, set_path, name),
  CONSTRAINT applied_problems_upload FOREIGN KEY (upload_id) REFERENCES uploads (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
