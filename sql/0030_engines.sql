-- The engine belongs to a version of a task. Its files decide it when the version is uploaded, and a dry run may change it for
-- the GPU models on which it ran. A ranking holds the results of one engine.

CREATE TABLE IF NOT EXISTS task_engines (
  task_version_id BIGINT UNSIGNED NOT NULL,
  gpu             VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'empty: all models that have no row',
  engine          ENUM('custom', 'isolated') CHARACTER SET ascii NOT NULL,
  reason          TEXT NOT NULL COMMENT 'one sentence: why this engine',
  PRIMARY KEY (task_version_id, gpu),
  CONSTRAINT task_engines_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- An older version keeps the engine that its ranking has. Where both have ranked, a submission may have caused the custom one.
-- podium-admin migrate adds the rows with an empty model.
INSERT IGNORE INTO task_engines (task_version_id, gpu, engine, reason)
  SELECT task_version_id, gpu, IF(SUM(engine = 'isolated') > 0, 'isolated', 'custom'),
    IF(SUM(engine = 'isolated') > 0, 'The isolated engine measured what is ranked here.',
      'The custom engine measured what is ranked here.')
  FROM ranking WHERE engine IS NOT NULL GROUP BY task_version_id, gpu;

-- With the engine of the job. A dry run tries what the files decide, whatever an earlier dry run has found.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW assignments AS
  SELECT j.id AS job_id, s.task_version_id, l.secret_seed, IF(c.id IS NULL, s.mode, 'compare') AS mode, v.definition,
    s.file_name, s.sha256, b.content AS source, r.file_name AS rival_name, r.sha256 AS rival_sha256, rb.content AS rival_source,
    COALESCE(own.engine, others.engine) AS engine, IF(own.engine IS NULL, others.reason, own.reason) AS engine_reason,
    s.dry_run AND c.id IS NULL AND a.id IS NULL AS is_dry_run
  FROM jobs j LEFT JOIN comparisons c ON c.id = j.comparison_id LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id
  JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id, a.submission_id)
  JOIN leaderboards l ON l.id = s.leaderboard_id JOIN task_versions v ON v.id = s.task_version_id
  LEFT JOIN task_engines own ON own.task_version_id = v.id AND own.gpu = j.gpu AND NOT s.dry_run
  LEFT JOIN task_engines others ON others.task_version_id = v.id AND others.gpu = ''
  LEFT JOIN blobs b ON b.sha256 = s.sha256
  LEFT JOIN submissions r ON r.id = c.incumbent_id LEFT JOIN blobs rb ON rb.sha256 = r.sha256;
