// Takes a picture of every page, for a person to look at. pictures.mjs makes the pictures of docs/.
//
//	python3 tests/lib/instance.py --pretend node tests/browser/screenshots.mjs FOLDER STATE [PATH]
//
// writes FOLDER/STATE/ROLE PAGE WIDTH THEME.png. STATE is `empty`, `usual` or `full`. With PATH,
// only addresses that contain it are taken. A role's page that looks as an earlier role's page
// is left out.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EMPTY, FULL, pathsOf, ROLES, USUAL } from './addresses.mjs';
import { contentOf, NARROW, WIDE } from './checks.mjs';
import { fill, makeEmpty } from './full.mjs';
import { furnish } from './usual.mjs';
import { closeBrowser, logIn, visit } from './visitor.mjs';

const [folder, state, part = ''] = process.argv.slice(2);
const SIZES = [{ ...NARROW, width: 390 }, WIDE], HEIGHT_LIMIT = 4000;

// Each state fills the site and returns the addresses of its pages. `reader`: the participant to
// log in as.
const STATES = {
	empty: async () => {
		await makeEmpty();
		return { list: EMPTY };
	},
	usual: async () => {
		const { page, context } = await visit({ watch: false }), ids = await furnish(page);
		await context.close();
		return { list: USUAL(ids), reader: ids.reader };
	},
	full: async () => {
		await makeEmpty();
		return { list: FULL(await fill()) };
	},
};
if (!folder || !STATES[state]) {
	console.error('usage: python3 tests/lib/instance.py --pretend node '
		+ `tests/browser/screenshots.mjs FOLDER ${Object.keys(STATES).join('|')} [PATH]`);
	process.exit(2);
}

// A long path is cut, and ends with a part of its hash.
function nameOf(path) {
	const name = path.slice(1, 80).replace(/[^\w.=-]+/g, '_') || 'home';
	return path.length <= 80 ? name
		: `${name}_${createHash('sha256').update(path).digest('hex').slice(0, 6)}`;
}

const { list, reader } = await STATES[state](), seen = new Set();
await new Promise((resolve) => setTimeout(resolve, 2000)); // nginx keeps visitors' pages for a second
mkdirSync(join(folder, state), { recursive: true });
for (const [role, { enter }] of Object.entries(ROLES)) {
	if (reader && role === 'a creator') // the usual site has none
		continue;
	const { page, context } = await visit({ watch: false });
	await (reader && role === 'a participant' ? logIn(page, reader) : enter(page));
	for (const path of pathsOf(list, role).filter((one) => one.includes(part))) {
		const content = contentOf(await (await page.goto(path)).text());
		if (seen.has(content))
			continue;
		seen.add(content);
		await page.mouse.move(0, 0); // away from the button that logged in
		for (const size of SIZES)
			for (const theme of ['light', 'dark']) {
				await page.setViewportSize(size);
				await page.emulateMedia({ colorScheme: theme });
				const name = [role.split(' ')[1], nameOf(path), size.width, theme].join(' ');
				const high = await page.evaluate(() => document.documentElement.scrollHeight);
				if (high > HEIGHT_LIMIT) // the browser cannot paint such a page as a whole
					await page.setViewportSize({ ...size, height: HEIGHT_LIMIT });
				await page.screenshot({ path: join(folder, state, `${name}.png`),
					fullPage: high <= HEIGHT_LIMIT });
			}
	}
	await context.close();
}
await closeBrowser();
