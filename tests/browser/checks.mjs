// Checks that every page must pass. Each check returns the page's faults as texts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { HtmlValidate } from 'html-validate';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WCAG = { runOnly: { type: 'tag',
	values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
	rules: { 'target-size': { enabled: true } } };
// The rules whose answer depends on the width or the zoom, and those about colours.
const SIZES = { runOnly: ['scrollable-region-focusable', 'target-size'] };
const LAYOUT = [...SIZES.runOnly, 'color-contrast', 'link-in-text-block'];

// Faults of the page's structure. Runs in the page.
export function structureFaults() {
	const faults = [], all = (selector) => [...document.querySelectorAll(selector)];
	const name = (element) => element.outerHTML.slice(0, 120);
	if (!document.documentElement.lang)
		faults.push('has no language');
	if (!/^\S.* · Podium$/.test(document.title))
		faults.push(`has the title "${document.title}"`);
	if (all('h1').length !== 1)
		faults.push(`has ${all('h1').length} h1`);
	const levels = all('h1, h2, h3, h4, h5, h6').map((heading) => Number(heading.tagName[1]));
	if (levels.some((level, i) => level > (levels[i - 1] ?? 0) + 1))
		faults.push(`leaves out a level of headings: ${levels}`);
	if (all('main').length !== 1)
		faults.push('has not one main');
	for (const field of all('input:not([type=hidden]), select, textarea:not([hidden])'))
		if (!field.labels.length && !field.ariaLabel && !field.getAttribute('aria-labelledby'))
			faults.push(`has a field without a label: ${name(field)}`);
	for (const element of all('[aria-describedby], [aria-labelledby], label[for]'))
		for (const id of ['aria-describedby', 'aria-labelledby', 'for'].flatMap(
			(key) => (element.getAttribute(key) ?? '').split(/\s+/)))
			if (id && !document.getElementById(id))
				faults.push(`names the id ${id}, which is not there: ${name(element)}`);
	const ids = all('[id]').map((element) => element.id);
	for (const id of new Set(ids.filter((one, i) => ids.indexOf(one) !== i)))
		faults.push(`has the id ${id} twice`);
	// The theme's form has no token on pages that nginx caches for visitors without a cookie.
	for (const form of all('form[method=post]:not(.theme)'))
		if (!form.elements.namedItem('csrf')?.value)
			faults.push(`has a form without its token: ${name(form)}`);
	// The editor positions its parts through the CSSOM, which the Content-Security-Policy allows.
	if (all('[style]:not(.cm-editor *), style, script:not([src])').length)
		faults.push('has a style or a script inside');
	return faults;
}

// Elements that overflow to the right. Runs in the page.
export function overflow() {
	if (document.documentElement.scrollWidth <= innerWidth)
		return [];
	const scrolls = (element) => element && element !== document.documentElement &&
		(/auto|scroll|hidden/.test(getComputedStyle(element).overflowX)
			|| scrolls(element.parentElement));
	const wide = [...document.body.querySelectorAll('*')].filter(
		(element) => element.getBoundingClientRect().right > innerWidth + 1 &&
		!scrolls(element.parentElement));
	return [`is ${document.documentElement.scrollWidth} px wide in ${innerWidth}: `
		+ wide.slice(-1).map((element) => element.outerHTML.slice(0, 160))];
}

// Marks one element for each way in which text is shown: its colour, size and weight, and the
// backgrounds behind it. Elements that look the same have the same contrast. Runs in the page.
function markSamplesOfText() {
	const looks = new Set(), behind = new Map();
	const background = (element) => {
		if (!element)
			return '';
		if (!behind.has(element)) {
			const style = getComputedStyle(element);
			behind.set(element, [background(element.parentElement), style.backgroundColor,
				style.backgroundImage, style.opacity, style.filter, style.position].join('|'));
		}
		return behind.get(element);
	};
	for (const element of document.body.querySelectorAll('*')) {
		element.removeAttribute('data-sample');
		if (!element.checkVisibility() || !element.matches('input, select, textarea')
			&& ![...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE
			&& node.data.trim()))
			continue;
		const style = getComputedStyle(element);
		const look = [element.tagName, element.disabled, style.color, style.fontSize,
			style.fontWeight, style.textShadow, background(element)].join(' ');
		if (!looks.has(look))
			element.setAttribute('data-sample', '');
		looks.add(look);
	}
}

// Remembers the elements by their looks and returns the looks. A look is a hash of the tags, classes,
// states and neighbours from the root down to the element. Runs in the page.
function looksOfElements() {
	const STATES = /^(class|role|type|scope|open|hidden|disabled|rel|aria-[chip].*|data-(state|mode))$/;
	const OWN = /^data-(sample|unseen|changed)$/;
	const looks = new Map([[document, 7]]), byLook = window.podiumByLook = new Map();
	for (const element of document.querySelectorAll('*')) {
		const parts = [...element.attributes].filter(({ name }) => !OWN.test(name)).map(
			({ name, value }) => STATES.test(name) ? name + value : name + (value === ''));
		parts.push(element.tagName, element.previousElementSibling?.tagName,
			element.checkVisibility({ visibilityProperty: true }), element.textContent.trim() !== '',
			[...element.childNodes].some(({ data }) => data?.trim()));
		let look = looks.get(element.parentNode);
		for (const character of parts.join(' '))
			look = Math.imul(look, 31) + character.codePointAt(0) | 0;
		looks.set(element, look);
		if (!byLook.has(look))
			byLook.set(look, element);
	}
	return [...byLook.keys()];
}

// Marks one element for each of these looks. Runs in the page.
function markElements(looks) {
	for (const element of document.querySelectorAll('[data-unseen]'))
		element.removeAttribute('data-unseen');
	for (const look of looks)
		window.podiumByLook.get(look).setAttribute('data-unseen', '');
}

// The looks that axe has checked on this page or on those before.
const seenLooks = new Set();

// Marks the elements of the open page that look unlike all that were checked before. Returns whether
// there are any.
async function markUnseen(page) {
	const unseen = (await page.evaluate(looksOfElements)).filter((look) => !seenLooks.has(look));
	for (const look of unseen)
		seenLooks.add(look);
	await page.evaluate(markElements, unseen);
	return unseen.length > 0;
}

// Makes axe look only at unseen elements, and at the contrast of samples of text alone. Without
// samples it would spend two fifths of its time there. Rules that depend on no layout look at
// changed elements only. Runs in the page.
function configureAxe(layout) {
	const rules = globalThis.axe.getRules().map(({ ruleId: id }) => ({ id,
		selector: `:is(${globalThis.axe._audit.getRule(id).selector})[data-unseen]`
			+ (layout.includes(id) ? '' : '[data-changed]') }));
	globalThis.axe.configure(
		{ rules: [...rules, { id: 'color-contrast', selector: '[data-sample][data-unseen]' }] });
}

// Faults that axe finds in marked elements. Line numbers are links as high as the code next to them.
// target-size allows that ("constrained by the line-height of non-target text"), but axe does not
// know this exception.
async function axeFaults(page, rules) {
	await page.evaluate(
		() => Promise.allSettled(document.getAnimations().map((one) => one.finished)));
	if (!await page.evaluate(() => 'axe' in globalThis)) {
		await page.evaluate(AXE);
		await page.evaluate(configureAxe, LAYOUT);
	}
	if (rules !== SIZES)
		await page.evaluate(markSamplesOfText);
	const { violations } = await page.evaluate((chosen) => globalThis.axe.run(
		{ resultTypes: ['violations'], preload: false, ...chosen }), rules);
	const isException = (rule, node) => rule.id === 'target-size'
		&& node.html.includes('class="line-number"');
	return violations.flatMap((rule) => rule.nodes.filter((node) => !isException(rule, node))
		.slice(0, 3).map((node) =>
		`${rule.id}: ${rule.help}: ${node.target.join(' ')}: ${node.html.slice(0, 160)} `
		+ node.any.map((check) => check.message).join('; ').slice(0, 200)));
}

// The HTML rules for a page as the server sent it. Each exception has its reason.
const html = new HtmlValidate(
		{ root: true, extends: ['html-validate:recommended', 'html-validate:document',
		'html-validate:a11y'], rules: {
	// HTML allows both spellings; Podium uses lower case everywhere
	'doctype-style': ['error', { style: 'lowercase' }],
	// the Content-Security-Policy forbids inline styles
	'no-inline-style': ['error', { allowedProperties: [] }],
	// in noscript: a page that changes reloads itself where live.js cannot run
	'meta-refresh': 'off',
	// the box around a wide table scrolls, so it is a region that can have the focus
	'prefer-native-element': ['error', { exclude: ['region'] }],
	'require-sri': 'off', // nothing comes from another host
	// the checkboxes of one choice share their name
	'form-dup-name': ['error', { shared: ['radio', 'button', 'reset', 'submit', 'checkbox'] }],
	// some ids are file names; HTML only forbids spaces in them
	'valid-id': ['error', { relaxed: true }],
	'void-style': 'off', // HTML allows <br> and <br />; the Markdown renderer writes <br />
	'no-trailing-whitespace': 'off', // a user's text may end a line with a space
	'long-title': 'off', // a title contains a leaderboard's name of up to 64 characters
} });

// A contest's form has one field for each problem, all with one name.
const mayShareName = ({ ruleId, message }) =>
	ruleId === 'form-dup-name' && message.endsWith('"problems"');

export function htmlFaults(text) {
	return html.validateStringSync(text).results.flatMap(({ messages }) => messages)
		.filter((message) => !mayShareName(message)).map((message) =>
		`is no good HTML, line ${message.line}, ${message.ruleId}: `
		+ `${message.message} ${message.selector ?? ''}`);
}

// Faults of the open page as it is shown.
export async function faultsAsShown(page) {
	await page.evaluate(() => document.querySelectorAll('*').forEach((element) =>
		['data-unseen', 'data-changed'].forEach((name) => element.setAttribute(name, ''))));
	return [...await page.evaluate(structureFaults), ...await page.evaluate(overflow),
		...await axeFaults(page, WCAG)];
}

// The files that a page loads, and the content of its <main> without parts that differ between visits
// and without the news that every page of an overtaken user shows; the text if it has no <main>.
export const contentOf = (text) => text.includes('<main')
	? text.match(/<(link|script) [^>]*>/g).join('')
		+ text.slice(text.indexOf('<main'), text.indexOf('</main>'))
		.replace(/name="csrf" value="[^"]*"/g, '').replace(/<time.*?<\/time>/gs, '')
		.replace(/<form class="notice news".*?<\/form>\s*/s, '')
	: text;

// ZOOMED is WIDE at 200 % zoom: half as many CSS pixels.
export const NARROW = { width: 360, height: 740 }, WIDE = { width: 1440, height: 900 },
	ZOOMED = { width: 720, height: 450 };

// Marks the elements that are shown in another way than when this ran before, and those whose name
// or role they may be part of: their ancestors, and what they label or describe. Runs in the page.
function markChanged(isFirst) {
	const all = document.querySelectorAll('*'), shown = new Map(), changed = new Set();
	for (const element of all)
		shown.set(element, element.checkVisibility({ visibilityProperty: true })
			&& getComputedStyle(element).display);
	const add = (element) => {
		for (let one = element; one && !changed.has(one); one = one.parentElement)
			changed.add(one);
	};
	for (const [element, way] of shown)
		if (isFirst || window.podiumShown.get(element) !== way)
			add(element);
	for (const label of document.querySelectorAll('label'))
		if (changed.has(label))
			add(label.control);
	for (const element of document.querySelectorAll('[aria-labelledby], [aria-describedby]'))
		if (`${element.getAttribute('aria-labelledby')} ${element.getAttribute('aria-describedby')}`
			.split(/\s+/).some((id) => changed.has(document.getElementById(id))))
			add(element);
	for (const element of all)
		element.toggleAttribute('data-changed', changed.has(element));
	window.podiumShown = shown;
}

// Faults of the open page on a narrow screen in light colours, and on a wide one in dark colours,
// without and with zoom. axe looks only at elements that look unlike all that it has checked before.
// On the wide screen, the rules that depend on no layout look only at what the screen shows in
// another way than the narrow one: they would find the rest again.
export async function faultsOf(page) {
	await page.emulateMedia({ colorScheme: 'light' });
	await page.setViewportSize(NARROW);
	const hasUnseen = await markUnseen(page), faults = await page.evaluate(structureFaults);
	for (const size of [NARROW, ZOOMED, WIDE]) {
		if (size === ZOOMED)
			await page.emulateMedia({ colorScheme: 'dark' });
		await page.setViewportSize(size);
		const found = await page.evaluate(overflow);
		if (hasUnseen && size !== ZOOMED)
			await page.evaluate(markChanged, size === NARROW);
		if (hasUnseen)
			found.push(...await axeFaults(page, size === ZOOMED ? SIZES : WCAG));
		faults.push(...found.map((fault) => `${size.width} px: ${fault}`));
	}
	return faults;
}

export async function looksRight(page) {
	const before = page.viewportSize();
	assert.deepEqual(await faultsOf(page), []);
	await page.emulateMedia({ colorScheme: 'light' });
	await page.setViewportSize(before);
}
