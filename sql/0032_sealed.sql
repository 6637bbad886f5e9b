-- The engine 'sealed'. Versions that were stored before keep the engine that they have. The values of the enums are in the
-- order of the engines: a dry run looks for the weakest one that a job needed (lib/task/version.c).

ALTER TABLE task_engines MODIFY engine ENUM('custom', 'isolated', 'sealed') CHARACTER SET ascii NOT NULL;
ALTER TABLE jobs MODIFY engine ENUM('custom', 'isolated', 'sealed') NULL;
ALTER TABLE ranking MODIFY engine ENUM('custom', 'isolated', 'sealed') NULL COMMENT 'jobs.engine once more';
ALTER TABLE endings MODIFY engine ENUM('custom', 'isolated', 'sealed') NULL;

-- A dry run of a sealed version runs the reference in the isolated engine too, so that its report shows both times.
ALTER TABLE dry_run_entries
  ADD COLUMN IF NOT EXISTS engine ENUM('custom', 'isolated', 'sealed') CHARACTER SET ascii NULL
    COMMENT 'runs in this engine; NULL: in the one that the files decide';

-- The CPU cannot replay what a GPU was told, so a sealed version gets the isolated engine there. Workers from before this
-- migration run every engine but 'isolated' as the custom one, so the column `engine` tells them 'isolated', and the newer ones
-- look at is_sealed first.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW assignments AS
  SELECT j.id AS job_id, s.task_version_id, l.secret_seed, IF(c.id IS NULL, s.mode, 'compare') AS mode, v.definition,
    s.file_name, s.sha256, b.content AS source, r.file_name AS rival_name, r.sha256 AS rival_sha256, rb.content AS rival_source,
    IF(COALESCE(e.engine, own.engine, others.engine) = 'sealed', 'isolated', COALESCE(e.engine, own.engine, others.engine)) AS engine,
    IF(own.engine IS NULL, others.reason, own.reason) AS engine_reason,
    s.dry_run AND c.id IS NULL AND a.id IS NULL AS is_dry_run,
    COALESCE(COALESCE(e.engine, own.engine, others.engine) = 'sealed' AND j.gpu <> 'CPU', FALSE) AS is_sealed
  FROM jobs j LEFT JOIN comparisons c ON c.id = j.comparison_id LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id
  JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id, a.submission_id)
  JOIN leaderboards l ON l.id = s.leaderboard_id JOIN task_versions v ON v.id = s.task_version_id
  LEFT JOIN task_engines own ON own.task_version_id = v.id AND own.gpu = j.gpu AND NOT s.dry_run
  LEFT JOIN task_engines others ON others.task_version_id = v.id AND others.gpu = ''
  LEFT JOIN dry_run_entries e ON e.submission_id = s.id
  LEFT JOIN blobs b ON b.sha256 = s.sha256
  LEFT JOIN submissions r ON r.id = c.incumbent_id LEFT JOIN blobs rb ON rb.sha256 = r.sha256;
