-- The tasks in CUDA C++ that take submissions. Workers build their kits before a job needs them (worker/kits.h).

ALTER TABLE leaderboard_gpus ADD KEY IF NOT EXISTS leaderboard_gpus_gpu (gpu);

CREATE OR REPLACE SQL SECURITY INVOKER VIEW kits AS
  SELECT g.gpu, v.id AS task_version_id, v.definition, COALESCE(own.engine, others.engine) AS engine
  FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id
  JOIN task_versions v ON v.id = l.task_version_id
  LEFT JOIN task_engines own ON own.task_version_id = v.id AND own.gpu = g.gpu
  LEFT JOIN task_engines others ON others.task_version_id = v.id AND others.gpu = ''
  WHERE v.language = 'cu' AND g.closed_at IS NULL AND l.accepting AND l.visibility <> 'hidden'
    AND (l.deadline IS NULL OR l.practice OR l.deadline > UTC_TIMESTAMP(3))
    AND COALESCE(own.engine, others.engine) <> 'custom';
CREATE OR REPLACE SQL SECURITY INVOKER VIEW kit_files AS
  SELECT f.task_version_id, f.path, f.sha256, b.content
  FROM task_files f LEFT JOIN blobs b ON b.sha256 = f.sha256 WHERE f.role = 'file';
