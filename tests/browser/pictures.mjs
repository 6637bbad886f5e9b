// Makes the pictures of docs/.
//
//	python3 tests/lib/instance.py --pretend node tests/browser/pictures.mjs docs
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { furnish } from './usual.mjs';
import { closeBrowser, visit } from './visitor.mjs';

const folder = process.argv[2];
if (!folder) {
	console.error('usage: python3 tests/lib/instance.py --pretend node tests/browser/pictures.mjs '
		+ 'FOLDER');
	process.exit(2);
}

const WIDTH = 1280;

// Takes a picture of a page. Podium computes a leaderboard's trend after the first view, so the
// page is loaded again until the trend is there.
async function takePicture(page, name, path, whole) {
	do
		await page.goto(path);
	while (!await page.locator(whole).count());
	await page.mouse.move(WIDTH - 1, 0);
	await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

// The parts of docs/design.md: its headings of the second level with HTML below them. Each picture
// shows a part in the light and the dark theme.
async function takePartPictures(page) {
	const text = readFileSync(new URL('../../docs/design.md', import.meta.url), 'utf8');
	mkdirSync(join(folder, 'design'), { recursive: true });
	await page.goto('/');
	// The sheet of one page has not the rules of all parts.
	await page.evaluate((styles) => {
		const whole = new CSSStyleSheet();
		whole.replaceSync(styles);
		document.adoptedStyleSheets = [whole];
	}, readFileSync(new URL('../../static/style.css', import.meta.url), 'utf8'));
	const parts = /^## (.+)\n(?:(?!^## )[^])*?^```html\n([^]*?)^```/gm;
	for (const [, heading, html] of text.matchAll(parts)) {
		await page.evaluate((part) => {
			document.body.innerHTML = `<div class="parts">${['light', 'dark'].map((theme) =>
				`<main data-theme="${theme}">${part}</main>`).join('')}</div>`;
			const { style } = document.querySelector('.parts');
			Object.assign(style, { display: 'grid', gridTemplateColumns: '1fr 1fr' });
			for (const side of document.querySelectorAll('main'))
				Object.assign(side.style, { minWidth: 0, width: 'auto', padding: '1rem',
					background: 'var(--ground)', color: 'var(--text)' });
		}, html);
		await page.locator('.parts').screenshot(
				{ path: join(folder, 'design', `${heading.toLowerCase().replaceAll(' ', '-')}.png`) });
	}
}

const { page } = await visit({ watch: false, width: WIDTH });
const { board, best } = await furnish(page);
await takePicture(page, 'home', '/', '.card');
await takePicture(page, 'leaderboard', `/leaderboard/${board}`, '.podium');
await takePicture(page, 'submit', `/leaderboard/${board}/submit?from=${best}`, 'textarea');
await takePicture(page, 'submission', `/submission/${best}`, '.job');
await takePartPictures((await visit({ watch: false, width: 800 })).page);
await closeBrowser();
