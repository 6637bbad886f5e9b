// Publishing in a browser, with and without scripts: from a hidden leaderboard to a closed one that
// somebody joins by its code; task versions; webhooks; and the checks that these pages must pass.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { faultsOf } from './checks.mjs';
import { closeBrowser, createLeaderboard, EVAL, fillAndSend, logInAsAdmin, openMenu, publish,
	register, RUN_LIMIT_MS, scene, taskZip } from './visitor.mjs';

after(closeBrowser);

// Opens the page and returns its faults.
async function owes(page, path) {
	await page.goto(path);
	return (await faultsOf(page)).map((fault) => `${path}: ${fault}`);
}

for (const scripts of [true, false])
	scene(`a code opens a closed leaderboard, ${scripts ? 'with' : 'without'} scripts`,
			async (come) => {
		const admin = await come({ scripts }), guest = await come({ scripts });
		const name = scripts ? 'with_scripts' : 'without_scripts';
		await logInAsAdmin(admin);
		await createLeaderboard(admin, name);
		await register(guest, `guest_${name}`);
		await admin.getByRole('link', { name: 'Visibility', exact: true }).click();
		await admin.getByRole('radio', { name: /^Hidden/ }).check();
		await admin.getByRole('button', { name: 'Save' }).click();
		await admin.getByText('Only its creator and admins see it then.').waitFor();
		await admin.getByRole('button', { name: 'Change it' }).click();
		await admin.getByText('The settings were saved.').waitFor();
		assert.equal((await guest.goto(`/leaderboard/${name}`)).status(), 404);
		await admin.goto(`/leaderboard/${name}`);
		await admin.getByText('This is a preview').waitFor();
		await admin.getByRole('link', { name: 'Choose who sees it' }).click();
		await admin.getByRole('radio', { name: /^Members only/ }).check();
		await admin.getByRole('button', { name: 'Save' }).click();
		await admin.getByText('The settings were saved.').waitFor();
		await admin.goto('/admin/invites');
		await admin.getByRole('checkbox', { name: new RegExp(`^${name}\\b`) }).check();
		await admin.getByLabel('Note').fill('the guest');
		await admin.getByLabel('Number of users').fill('1');
		await admin.getByRole('button', { name: 'Create the code' }).click();
		const code = (await admin.locator('th code').first().textContent()).trim();
		await guest.goto('/join');
		await guest.getByLabel('Code').fill(code);
		await guest.getByRole('button', { name: 'Join' }).click();
		await guest.waitForURL(`**/leaderboard/${name}`);
		await admin.goto('/admin/invites');
		await admin.getByRole('row', { name: new RegExp(code) }).getByText('used up').waitFor();
		await admin.goto(`/admin/leaderboard/${name}/publishing`);
		await admin.getByRole('button', { name: `Remove guest_${name}` }).click();
		await admin.getByLabel('To do it, type the member’s name').fill(`guest_${name}`);
		await admin.getByRole('button', { name: 'Remove the member' }).click();
		await admin.getByText('The member was removed.').waitFor();
		assert.equal((await guest.goto(`/leaderboard/${name}`)).status(), 404);
		await admin.getByText('1 removed user').click();
		await admin.getByRole('button', { name: `Readmit guest_${name}` }).click();
		await admin.getByText('The user is a member again.').waitFor();
		assert.equal((await guest.goto(`/leaderboard/${name}`)).status(), 200);
	});

for (const scripts of [true, false])
	scene(`a hidden task is tried and published, ${scripts ? 'with' : 'without'} scripts`,
			async (come) => {
		const admin = await come({ scripts }), guest = await come({ scripts });
		const name = scripts ? 'tried' : 'tried_plainly';
		await logInAsAdmin(admin);
		await admin.goto('/admin/leaderboards/new');
		await admin.getByLabel('Name', { exact: true }).fill(name);
		await admin.getByLabel('Task, as a zip').setInputFiles(taskZip('Add **one**.'));
		await admin.locator('input[name=gpu]').first().check();
		await admin.getByRole('button', { name: 'Preview' }).click();
		await admin.getByRole('button', { name: 'Create hidden' }).click();
		await admin.waitForURL(`**/leaderboard/${name}*`);
		await admin.getByText('This is a preview').waitFor();
		assert.equal((await guest.goto(`/leaderboard/${name}`)).status(), 404);
		await admin.getByRole('link', { name: 'Dry run' }).click();
		await admin.getByRole('button', { name: 'Start the dry run' }).click();
		await admin.getByText('4 wrong answers failed as expected.')
			.waitFor({ timeout: RUN_LIMIT_MS });
		// Without scripts, the page reloads itself while the dry run is open.
		if (scripts)
			await admin.getByText('The dry run of version 1 has started.').waitFor();
		await admin.getByText('the task has no function ref_kernel').waitFor();
		assert.match(await admin.getByRole('row', { name: /^the input, returned/ }).textContent(),
			/wrong answer\s*✓ as expected\s*custom\s*[\d.]+ m?s\s*[\d.]+ MB/);
		if (scripts)
			assert.deepEqual(await owes(admin, `/admin/leaderboard/${name}/dryrun?version=1`), []);
		await admin.getByRole('link', { name: 'an empty file' }).click();
		await admin.getByText('This submission belongs to the dry run of version 1').waitFor();
		assert.equal((await guest.goto(admin.url())).status(), 404);
		await admin.goto(`/leaderboard/${name}`);
		await admin.getByRole('button', { name: 'Publish it to everybody' }).click();
		await admin.getByText('The check found no error, but 1 warning.').waitFor();
		await admin.getByText('On CPU, nothing shows that a right answer passes').waitFor();
		assert.equal((await guest.goto(`/leaderboard/${name}`)).status(), 404);
		if (scripts)
			assert.deepEqual(await owes(admin, `/admin/leaderboard/${name}/dryrun`), []);
		await admin.getByRole('button', { name: 'Publish despite the warnings' }).click();
		await admin.getByText('The warnings were accepted.').waitFor();
		assert.equal((await guest.goto(`/leaderboard/${name}`)).status(), 200);
		await admin.goto('/mine');
		assert.equal(await admin.getByRole('link', { name }).count(), 0);
	});

// A task with a reference and a wrong sample, so that its check passes.
const CHECKED = {
	'task.yml': `lang: py
description: Add **two**.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
templates: {Python: template.py}
tests: [{number: 1}]
benchmarks: [{number: 4444}]
podium:
  engine: custom
  expected: [{source: wrong.py, verdict: wrong answer, mode: test}]
`,
	'eval.py': EVAL,
	'reference.py': 'def ref_kernel(data):\n    return data + 1\n',
	'template.py': 'def custom_kernel(data):\n    pass\n',
	'wrong.py': 'def custom_kernel(data):\n    return 0\n',
};

for (const scripts of [true, false])
	scene(`a new leaderboard becomes public when its check passes, ${
		scripts ? 'with' : 'without'} scripts`, async (come) => {
		const admin = await come({ scripts }), guest = await come({ scripts });
		const name = scripts ? 'checked' : 'checked_plainly';
		await logInAsAdmin(admin);
		await admin.goto('/admin/leaderboards/new');
		await admin.getByLabel('Name', { exact: true }).fill(name);
		await admin.getByLabel('Task, as a zip').setInputFiles(taskZip('', CHECKED));
		await admin.locator('input[name=gpu]').first().check();
		await admin.getByRole('button', { name: 'Preview' }).click();
		await admin.getByRole('button', { name: 'Create', exact: true }).click();
		await admin.getByText('It becomes public when its check passes.').waitFor();
		assert.equal((await guest.goto(`/leaderboard/${name}`)).status(), 404);
		await admin.getByRole('link', { name: 'its check' }).click();
		await admin.getByRole('heading', { name: 'Check before publishing' }).waitFor();
		await admin.getByText('All 6 outcomes are as expected.')
			.waitFor({ timeout: RUN_LIMIT_MS });
		await admin.getByRole('heading', { name: 'Check before publishing' })
			.waitFor({ state: 'detached', timeout: RUN_LIMIT_MS });
		assert.equal((await guest.goto(`/leaderboard/${name}`)).status(), 200);
	});

scene('a creator compares a draft with the current version and switches to it', async (come) => {
	const admin = await come();
	await logInAsAdmin(admin);
	await createLeaderboard(admin, 'versions');
	await admin.goto('/admin/leaderboard/versions/edit');
	await admin.getByLabel('Task, as a zip').setInputFiles(taskZip('', { 'task.yml': `lang: py
description: Another.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{number: 1}]
benchmarks: [{number: 4444}]
`, 'eval.py': EVAL.replace('became', 'turned into') }));
	await admin.getByRole('checkbox', { name: /^Keep version 1 in use/ }).check();
	await admin.getByRole('button', { name: 'Save' }).click();
	await admin.getByText('Version 2 was saved as a draft.').waitFor();
	await openMenu(admin, 'version 2');
	await admin.getByRole('link', { name: 'Compare with version 1' }).click();
	await admin.locator('ins', { hasText: 'turned into' }).waitFor();
	await admin.locator('del', { hasText: 'became' }).waitFor();
	publish('versions', '2');
	publish('versions', '1');
	await admin.goto('/admin/leaderboard/versions/versions');
	await openMenu(admin, 'version 2');
	await admin.getByRole('link', { name: 'Switch to it…' }).click();
	await admin.getByRole('button', { name: 'Switch to version 2' }).click();
	await admin.getByText('Submissions run against version 2 now.').waitFor();
	const faults = [];
	for (const path of ['/admin/leaderboard/versions/publishing', '/admin/invites', '/join',
		'/archive', '/admin/leaderboard/versions/versions',
			'/admin/leaderboard/versions/diff?from=1&to=2',
			'/admin/leaderboard/versions/switch?version=1', '/admin/leaderboard/versions/clone',
			'/admin/leaderboard/versions/dryrun', '/admin/leaderboard/versions/edit',
			'/admin/leaderboard/versions/task'])
		faults.push(...await owes(admin, path));
	assert.deepEqual(faults, []);
});

for (const scripts of [true, false])
	scene(`a webhook is created, tried, paused and deleted${scripts ? '' : ' without scripts'}`,
			async (come) => {
		const admin = await come({ scripts }), name = `hooks_${scripts}`;
		await logInAsAdmin(admin);
		await createLeaderboard(admin, name);
		await admin.goto(`/admin/leaderboard/${name}/publishing`);
		await admin.locator('main').getByRole('link', { name: 'Webhooks', exact: true }).click();
		await fillAndSend(admin, { Name: 'our chat', Address: 'https://127.0.0.1/' },
			'Create the webhook');
		await admin.locator('#address-error', { hasText: '127.0.0.1 is this host' }).waitFor();
		await fillAndSend(admin, { Address: 'https://localhost/secret-path' }, 'Create the webhook');
		await admin.getByText(/^whsec_/).waitFor();
		await admin.getByRole('button', { name: 'Send a test' }).click();
		await admin.getByText(
			'localhost leads to this host, which webhooks may not reach.').waitFor();
		assert.equal(await admin.getByText(/whsec_|secret-path/).count(), 0);
		await admin.getByLabel('The old secret works for').selectOption('168');
		await admin.getByRole('button', { name: 'Replace the secret' }).click();
		await admin.getByText(/^whsec_/).waitFor();
		await admin.getByText('deliveries carry a signature by the old secret too.').waitFor();
		if (scripts)
			assert.deepEqual(await owes(admin, new URL(admin.url()).pathname), []);
		await admin.getByRole('button', { name: 'Pause' }).click();
		await admin.getByRole('button', { name: 'Pause it' }).click();
		await admin.getByText('This webhook is paused. It receives no events until you resume it.')
			.waitFor();
		await admin.getByRole('button', { name: 'Delete' }).click();
		await admin.getByLabel('To do it, type the webhook’s name').fill('our chat');
		await admin.getByRole('button', { name: 'Delete the webhook' }).click();
		await admin.getByText('There is no webhook yet.').waitFor();
	});

scene('a preview shows its state, and deadlines are in the reader’s time zone', async (come) => {
	const admin = await come({ zone: 'Europe/Berlin' });
	await logInAsAdmin(admin);
	await createLeaderboard(admin, 'frozen', { deadline: '2090-07-01T10:00' });
	await createLeaderboard(admin,
		'a_leaderboard_whose_name_is_as_long_as_names_may_be_' + 'x'.repeat(12));
	assert.deepEqual(await owes(admin, '/admin/invites'), []);
	await admin.goto('/admin/leaderboard/frozen/publishing');
	await admin.getByRole('radio', { name: /^Hidden/ }).check();
	await admin.getByRole('checkbox', { name: /^In the archive/ }).check();
	await admin.getByRole('checkbox', { name: /^Practice/ }).check();
	await admin.getByLabel('Freeze the ranking from').fill('2020-01-01T00:00');
	await admin.getByRole('button', { name: 'Save' }).click();
	await admin.getByText('moves from the front page to the archive').waitFor();
	await admin.getByRole('button', { name: 'Change it' }).click();
	await admin.getByText('The settings were saved.').waitFor();
	assert.deepEqual(
		[...await owes(admin, '/leaderboard/frozen'), ...await owes(admin, '/archive')], []);
	await admin.goto('/leaderboard/frozen');
	for (const words of ['This is a preview', 'The ranking was frozen',
		'It takes no submissions; its results stay'])
		await admin.getByText(words).first().waitFor();
	const zone = await admin.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
	assert.match(await admin.locator('.lead time').first().getAttribute('title'),
		new RegExp(`UTC\n.*${zone.replace('/', '.')}`));
	await admin.goto('/admin/leaderboard/frozen/edit');
	const own = admin.getByLabel('The same in your zone, Europe/Berlin'),
		utc = admin.getByLabel('Deadline (UTC)');
	assert.equal(await own.inputValue(), '2090-07-01T12:00');
	for (const [typed, inUtc, words] of [['2091-01-05T08:30', '2091-01-05T07:30', ''],
		['2030-03-31T02:30', '2030-03-31T01:30', 'There is no 02:30'],
			['2030-10-27T02:30', '2030-10-27T00:30', 'comes twice'],
			['2020-05-05T10:00', '2020-05-05T08:00', 'has passed already']]) {
		await own.fill(typed);
		assert.equal(await utc.inputValue(), inUtc);
		if (words)
			await admin.locator('.local-time', { hasText: words }).waitFor();
		else
			await admin.locator('.local-time').waitFor({ state: 'hidden' });
	}
	assert.deepEqual(await owes(admin, '/admin/leaderboard/frozen/edit'), []);
	await own.fill('2090-07-02T12:00');
	await admin.getByRole('button', { name: 'Save' }).click();
	await admin.waitForURL('**/leaderboard/frozen');
	await admin.locator('.lead', { hasText: '2090-07-02 10:00 UTC, 2 Jul' })
		.or(admin.locator('.lead', { hasText: '2090-07-02 10:00 UTC, Jul 2' })).waitFor();
	await admin.goto('/admin/leaderboard/frozen/edit');
	await utc.fill('');
	assert.equal(await own.inputValue(), '');
	await utc.fill('2001-02-03T04:05');
	await admin.locator('.local-time', { hasText: 'has passed already' }).waitFor();
});
