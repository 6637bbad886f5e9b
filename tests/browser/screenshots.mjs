// Takes pictures of the main pages, for a person to look at. pictures.mjs makes the pictures of
// docs/.
//
//	python3 tests/lib/instance.py node tests/browser/screenshots.mjs FOLDER
//
// writes FOLDER/STATE-PAGE-WIDTH-SCHEME.png. STATE is `empty` (a fresh Podium) or `full` (with
// submissions of several people).
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeBrowser, createLeaderboard, logIn, logInAsAdmin, register, setDeadline, SLOW, submit,
	taskZip, verdictOf, visit, WRONG } from './visitor.mjs';

const folder = process.argv[2];
if (!folder) {
	console.error('usage: python3 tests/lib/instance.py node tests/browser/screenshots.mjs FOLDER');
	process.exit(2);
}
mkdirSync(folder, { recursive: true });

const BOARD = 'vectoradd_py';
const sample = (name) =>
	readFileSync(new URL(`../../tasks/${BOARD}/samples/${name}.py`, import.meta.url), 'utf8');
const READER = 'ada';
const KERNELS = {
	ada: 'output[...] = A + B', grace: 'output.copy_(A).add_(B)',
	barbara: 'torch.add(A, B, out=output)',
	edsger: 'output.copy_((A.float() + B.float()).half())',
	frances: 'output.copy_(torch.stack([A, B]).sum(0))',
	ken: 'for i in range(A.shape[0]):\n        output[i] = A[i] + B[i]',
};
const kernel = (body) => 'import torch\n\n\ndef custom_kernel(data):\n    A, B, output = data\n'
	+ `    ${body}\n    return output\n`;

const SIZES = [{ width: 360, height: 740 }, { width: 1440, height: 900 }];

async function takePictures(state, pages) {
	for (const size of SIZES)
		for (const dark of [false, true])
			for (const [role, ...list] of pages) {
				const { page, context } = await visit({ dark, ...size, watch: false });
				if (role)
					await (role === 'admin' ? logInAsAdmin(page) : logIn(page, role));
				for (const [name, path] of list) {
					await page.goto(path);
					await page.mouse.move(0, 0);
					await page.screenshot(
						{ path: join(folder,
						`${state}-${name}-${size.width}-${dark ? 'dark' : 'light'}.png`),
						fullPage: true });
				}
				await context.close();
			}
}

const { page: admin } = await visit({ watch: false });
await logInAsAdmin(admin);
const people = new Map();
for (const name of Object.keys(KERNELS)) {
	const { page } = await visit({ watch: false });
	await register(page, name);
	people.set(name, page);
}

await takePictures('empty', [
	[null, ['home', '/'], ['leaderboard', `/leaderboard/${BOARD}`], ['queue', '/queue'],
		['login', '/login'], ['register', '/register'],
		['missing', '/nothing/here']],
	[READER, ['history', `/leaderboard/${BOARD}/mine`], ['user', `/user/${READER}`],
		['submit', `/leaderboard/${BOARD}/submit`], ['account', '/account']],
	['admin', ['admin', '/admin'], ['audit', '/admin/audit'], ['new', '/admin/leaderboards/new']],
]);

for (const [name, body] of Object.entries(KERNELS)) {
	await submit(people.get(name), BOARD, { code: kernel(body), mode: 'Ranked' });
	console.log(`${name}: ${await verdictOf(people.get(name))}`);
}
const reader = people.get(READER);
const best = await submit(reader, BOARD, { code: sample('right'), mode: 'Ranked' });
await verdictOf(reader);
const wrong = await submit(reader, BOARD, { code: sample('subtracts'), mode: 'Test' });
await verdictOf(reader);
const raises = await submit(reader, BOARD, { code: sample('raises'), mode: 'Test' });
await verdictOf(reader);
const broken = await submit(reader, BOARD, { code: 'def custom_kernel(data:\n', mode: 'Test' });
await verdictOf(reader);
await createLeaderboard(admin, 'addone', { task: taskZip(), deadline: '2090-01-01T00:00' });
await createLeaderboard(admin, 'finished', { task: taskZip() });
await setDeadline(admin, 'finished', '2026-01-01T00:00');
const running = await submit(people.get('ken'), 'addone',
	{ code: SLOW.replace('1.5', '40'), mode: 'Test' });
await submit(people.get('grace'), 'addone', { code: WRONG, mode: 'Test' });
await people.get('ken').waitForTimeout(2000);

await takePictures('full', [
	[READER, ['running', `/submission/${running}`], ['queue', '/queue'], ['home', '/'],
		['leaderboard', `/leaderboard/${BOARD}`],
		['task', `/leaderboard/${BOARD}/task`],
		['task-file', `/leaderboard/${BOARD}/task/reference.py`], ['language', '/language/py'],
		['submission', `/submission/${best}`], ['wrong', `/submission/${wrong}`],
		['raises', `/submission/${raises}`],
		['compile-error', `/submission/${broken}`], ['history', `/leaderboard/${BOARD}/mine`],
		['user', `/user/${READER}`]],
	['admin', ['admin', '/admin'], ['users', '/admin/users'], ['audit', '/admin/audit'],
		['edit', '/admin/leaderboard/addone/edit'],
		['delete', '/admin/leaderboard/addone/delete']],
]);
await closeBrowser();
