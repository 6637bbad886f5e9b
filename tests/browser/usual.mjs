// A site as it usually looks: three leaderboards with a dozen users. Ranks and times are made up, so
// no GPU is needed.
import { rebuildRanking, sql } from './full.mjs';
import { register } from './visitor.mjs';

const READER = 'grace';
// Each user's final time relative to the best user's. Users submit once in each round. ROUNDS says
// how many times longer their times were then than in the final round.
const BEHIND = { ada: 1.45, barbara: 1, edsger: 1.28, katherine: 1.004, linus: 1.52, grace: 1.07,
	ken: 2.4, frances: 1.73, alan: 1.38, margaret: 1.19, donald: 2.05, radia: 1.61 };
const ROUNDS = [2.6, 1.6, 1.2, 1];
const BOARDS = [
	{ name: 'matmul_py', best_us: 14.2, gpus: ['H200', 'B200'],
		dialects: ['pytorch', 'triton', 'triton'] },
	{ name: 'vectoradd_cu', best_us: 4.71, gpus: ['H200', 'B200'], dialects: ['cuda'] },
	{ name: 'softmax_py', best_us: 9.74, gpus: ['H200', 'B200'], dialects: ['triton', 'pytorch'] },
];
const FASTER_ON_B200 = 0.71;
const KERNEL = `import torch
import triton
import triton.language as tl


@triton.jit
def multiply(a, b, c, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        left = tl.load(a + rows[:, None] * k + (start + steps)[None, :])
        right = tl.load(b + (start + steps)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


def custom_kernel(data):
    a, b, output = data
    (m, k), n = a.shape, b.shape[1]
    multiply[(m // 64, n // 64)](a, b, output, m, n, k, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64)
    return output
`;

const idOf = (board) => `(SELECT id FROM leaderboards WHERE name = '${board.name}')`;
const versionOf = (board) =>
	`(SELECT task_version_id FROM leaderboards WHERE name = '${board.name}')`;
const templateOf = (board) =>
	`(SELECT MIN(sha256) FROM task_files
		WHERE task_version_id = ${versionOf(board)} AND role = 'template')`;

function takeOver(board) {
	sql(`UPDATE task_engines SET engine = 'isolated' WHERE task_version_id = ${versionOf(board)};
		DELETE FROM leaderboard_gpus WHERE leaderboard_id = ${idOf(board)};
		INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position)
			VALUES ${board.gpus.map((gpu, i) => `(${idOf(board)}, '${gpu}', ${i})`)}`);
	const [[cases]] =
		sql(`SELECT JSON_EXTRACT(definition, '$.benchmarks') FROM task_versions
			WHERE id = ${versionOf(board)}`);
	board.specs = JSON.parse(cases)
		.map((one) => typeof one === 'string' ? one : Object.entries(one)
		.map(([name, value]) => `${name}: ${value}`).join('; '));
}

// Each shape takes twice as long as the one before; their geometric mean is the score.
function timedCases(board, score_ns) {
	const middle = (board.specs.length - 1) / 2;
	return board.specs.map((spec, i) => {
		const ns = score_ns * 2 ** (i - middle);
		const figures = [ns, ns / 60, ns / 900, ns * 0.993, ns * 1.011, ns, ns * 0.998, ns * 1.002,
			3460, ns + 2900];
		return `(@stage, ${i}, '${spec}', 'passed', '', 400, ${figures}, 4, 0)`;
	});
}

const result = (board, gpu, score_ns) => `
	INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, reason, score_ns, score_err_ns,
		engine, queued_at, started_at, finished_at)
		SELECT id, user_id, '${gpu}', 'done', 'passed', '', ${score_ns}, ${score_ns / 900},
			'isolated', submitted_at, submitted_at, submitted_at FROM submissions
			WHERE id = @submission;
	SET @job = LAST_INSERT_ID();
	INSERT INTO stages (job_id, position, name, verdict, message, exit_code, duration_ms, command,
		stdout, stderr)
		VALUES (@job, 0, 'compile', 'passed', '', 0, 41, '', '', ''),
			(@job, 1, 'test', 'passed', '', 0, 412, '', '', ''),
			(@job, 2, 'ranked', 'passed', '', 0, 1130, '', '', '');
	SET @stage = (SELECT id FROM stages WHERE job_id = @job AND name = 'ranked');
	INSERT INTO measurements (stage_id, case_index, spec, verdict, message, runs, mean_ns, std_ns,
		err_ns, best_ns, worst_ns, median_ns, low_ns, high_ns,
		constant_ns, own_ns, blocks, repeated) VALUES ${timedCases(board, score_ns)};`;

// Each submission has its own source, because results of equal source share one time. In the last
// round, the first user submits the leaderboard's template.
const submission = (board, user, number, factor, minutes, isLast) => `
	SET @source = '${KERNEL}# ${board.name} ${user} ${minutes}';
	SET @kernel = UNHEX(SHA2(@source, 256));
	INSERT IGNORE INTO blobs VALUES (@kernel, LENGTH(@source), @source);
	INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode,
		dialect, submitted_at)
		SELECT ${idOf(board)}, ${versionOf(board)}, id, 'kernel.py',
			${number || !isLast ? '@kernel' : templateOf(board)},
			'ranked', '${board.dialects[number % board.dialects.length]}',
				UTC_TIMESTAMP(3) - INTERVAL ${minutes} MINUTE FROM users WHERE name = '${user}';
	SET @submission = LAST_INSERT_ID();
	${board.gpus.map((gpu) => result(board, gpu, board.best_us * 1000 * factor
		* (gpu === 'B200' ? FASTER_ON_B200 : 1))).join('')}`;

// Registers READER and fills a fresh Podium that pretends. Returns what addresses need.
export async function furnish(page) {
	await register(page, READER);
	sql(`INSERT IGNORE INTO users (name, password_hash)
			VALUES ${Object.keys(BEHIND).map((name) => `('${name}', '!')`)};
		DELETE FROM leaderboards WHERE name NOT IN (${BOARDS.map(({ name }) => `'${name}'`)})`);
	const names = Object.keys(BEHIND), all = [];
	for (const [b, board] of BOARDS.entries()) {
		takeOver(board);
		// Each leaderboard has another winner.
		const behind = (i) => BEHIND[names[(i + 5 * b) % names.length]];
		for (const [round, slower] of ROUNDS.entries())
			for (const [i, name] of names.entries()) {
				const minutes = (ROUNDS.length - 1 - round) * 5300 + (i * 1777) % 4700 + 60;
				all.push({ minutes, statements: submission(board, name, i,
					behind(i) * slower ** (0.5 + (i * 5 % 7) / 7), minutes,
					round === ROUNDS.length - 1) });
			}
	}
	// Newer submissions have higher numbers.
	sql(all.sort((one, other) => other.minutes - one.minutes).map(({ statements }) => statements)
		.join(''));
	sql(`UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL 13140 MINUTE
		WHERE name = 'matmul_py';
		UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL 31000 MINUTE
			WHERE name = 'vectoradd_cu';
		INSERT INTO leaderboard_counts (leaderboard_id, submissions, participants)
			SELECT leaderboard_id, COUNT(*), COUNT(DISTINCT user_id) FROM submissions GROUP BY 1;
		INSERT INTO user_days (user_id, day, submissions) SELECT user_id, DATE(submitted_at),
			COUNT(*) FROM submissions GROUP BY 1, 2`);
	sql(`INSERT INTO questions (leaderboard_id, user_id, text, asked_at, answer, answered_at, for_all,
			unseen)
		SELECT ${idOf(BOARDS[0])}, u.id, q.text, UTC_TIMESTAMP(3) - INTERVAL 3 HOUR, q.answer,
			IF(q.answer IS NULL, NULL, UTC_TIMESTAMP(3) - INTERVAL 2 HOUR), q.for_all,
			q.answer IS NOT NULL
		FROM users u JOIN (SELECT 'barbara' AS name, 'May a kernel keep a buffer between calls?' AS text,
				'No. Podium poisons the output before each call.' AS answer, 1 AS for_all
			UNION SELECT '${READER}', 'Is shape 3 meant to be odd?', 'Yes.', 0
			UNION SELECT '${READER}', 'Do results in TF32 pass?', NULL, 0) q ON q.name = u.name`);
	rebuildRanking();
	const bestOf = (user) => sql(`SELECT submission_id FROM ranking r JOIN users u ON u.id = r.user_id
		WHERE u.name = '${user}' AND r.leaderboard_id = ${idOf(BOARDS[0])} LIMIT 1`)[0][0];
	return { board: BOARDS[0].name, reader: READER, best: Number(bestOf(READER)),
		other: Number(bestOf('barbara')) };
}
