-- Files that task.yml names as baselines. Podium times them on each device with jobs of their own (lib/leaderboard/baseline_run.h).

ALTER TABLE task_files MODIFY role ENUM('file', 'template', 'sample', 'definition', 'baseline') NOT NULL;
ALTER TABLE task_files ADD KEY IF NOT EXISTS task_files_role (role);
ALTER TABLE baselines MODIFY role ENUM('template', 'sample', 'baseline') NOT NULL COMMENT 'task_files.role';

-- A baseline is marked submissions.dry_run, but it is in no dry run. It runs in the engine of the ranking and in no other one,
-- because times of different engines do not compare.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW assignments AS
  SELECT j.id AS job_id, s.task_version_id, l.secret_seed, IF(c.id IS NULL, s.mode, 'compare') AS mode, v.definition,
    s.file_name, s.sha256, b.content AS source, r.file_name AS rival_name, r.sha256 AS rival_sha256, rb.content AS rival_source,
    IF(COALESCE(e.engine, own.engine, others.engine) = 'sealed', 'isolated', COALESCE(e.engine, own.engine, others.engine)) AS engine,
    IF(own.engine IS NULL, others.reason, own.reason) AS engine_reason,
    e.submission_id IS NOT NULL AND c.id IS NULL AND a.id IS NULL AS is_dry_run,
    COALESCE(COALESCE(e.engine, own.engine, others.engine) = 'sealed' AND j.gpu <> 'CPU', FALSE) AS is_sealed
  FROM jobs j LEFT JOIN comparisons c ON c.id = j.comparison_id LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id
  JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id, a.submission_id)
  JOIN leaderboards l ON l.id = s.leaderboard_id JOIN task_versions v ON v.id = s.task_version_id
  LEFT JOIN dry_run_entries e ON e.submission_id = s.id
  LEFT JOIN task_engines own ON own.task_version_id = v.id AND own.gpu = j.gpu AND e.submission_id IS NULL
  LEFT JOIN task_engines others ON others.task_version_id = v.id AND others.gpu = ''
  LEFT JOIN blobs b ON b.sha256 = s.sha256
  LEFT JOIN submissions r ON r.id = c.incumbent_id LEFT JOIN blobs rb ON rb.sha256 = r.sha256;
