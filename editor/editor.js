// The code editor of the submit page. It replaces <textarea data-draft="KEY"> and keeps the
// textarea, hidden, as the form's field. Without scripts the textarea stays.
//
//	data-draft      key of the draft: the user and the leaderboard
//	data-language   "py" or "cu"; without it the text decides
//	data-restores   the draft replaces the page's code
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage,
	syntaxHighlighting } from '@codemirror/language';
import { cpp } from '@codemirror/legacy-modes/mode/clike';
import { python } from '@codemirror/legacy-modes/mode/python';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, Prec } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { StyleModule } from 'style-mod';

// ---- styles ----

// CodeMirror would add a <style> element, which the Content-Security-Policy forbids. A style sheet
// that a script constructs needs no exception.
const sheet = new CSSStyleSheet();
StyleModule.mount = (root, modules) => {
	sheet.replaceSync(modules.map((module) => module.getRules()).join('\n'));
	if (!root.adoptedStyleSheets.includes(sheet))
		root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
};

// Every colour is a property of style.css, so that the editor follows the reader's theme.
const theme = EditorView.theme({
	'&': { color: 'var(--text)', backgroundColor: 'var(--surface)' },
	'&.cm-focused': { outline: 'none' },
	'&:has(.cm-content:focus)': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
	'.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
	'.cm-content': { caretColor: 'var(--text)' },
	'.cm-content:focus-visible': { outline: 'none' },
	'.cm-gutters': { color: 'var(--muted)', backgroundColor: 'var(--sunken)',
		borderRight: '1px solid var(--line)' },
	'.cm-lineNumbers .cm-gutterElement': { paddingInline: '.8em .6em' },
	'&.cm-focused .cm-matchingBracket, .cm-selectionMatch': {
		backgroundColor: 'var(--accent-tint)' },
	'&.cm-focused .cm-matchingBracket': { boxShadow: 'inset 0 -2px var(--accent)' },
	'&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-tint)' },
	'.cm-searchMatch': { backgroundColor: 'var(--warn-tint)' },
	'.cm-searchMatch-selected': { backgroundColor: 'var(--accent-tint)',
		outline: '1px solid var(--accent)' },
	'.cm-panels, .cm-panels-top': { color: 'var(--text)', backgroundColor: 'var(--sunken)',
		borderColor: 'var(--line)' },
	'.cm-panel.cm-search': { padding: '.5rem 2rem .5rem .6rem', fontFamily: 'var(--sans)' },
	'.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': {
		fontSize: '.87rem' },
	'.cm-textfield': { width: '12rem', minHeight: '1.8rem', color: 'var(--text)',
		backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)' },
	'.cm-button': { minHeight: '1.8rem', color: 'var(--text)', backgroundImage: 'none',
		backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)',
		'&:active': { backgroundImage: 'none' } },
	'.cm-panel.cm-search [name=close]': { top: '.3rem', right: '.3rem', width: '1.8rem',
		height: '1.8rem', color: 'var(--text)', cursor: 'pointer' },
});

// The class names are those of the source code on other pages.
const colours = HighlightStyle.define([
	{ tag: tags.comment, class: 'comment' },
	{ tag: tags.string, class: 'string' },
	{ tag: [tags.number, tags.bool, tags.null], class: 'number' },
	{ tag: [tags.processingInstruction, tags.meta], class: 'directive' },
	{ tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.typeName],
		class: 'keyword' },
]);

// ---- languages ----

// CUDA C++ is C++ with more words, and with launches: kernel<<<blocks, threads>>>(...).
const CUDA = /^(?:__\w+__|(?:thread|block)Idx|(?:block|grid)Dim|warpSize|<<<|>>>)$/;
const cuda = StreamLanguage.define({ ...cpp, name: 'cuda', token(stream, state) {
	const style = cpp.token(stream, state);
	return /comment|string|meta/.test(style) || !CUDA.test(stream.current()) ? style : 'keyword';
} });
const pythonLanguage = StreamLanguage.define(python);

const isCuda = (text) => /^\s*(?:#\s*(?:include|pragma|define)|\/\/|\/\*)|__global__/m.test(text);
const languageOf = (name, text) =>
	name === 'cu' || name !== 'py' && isCuda(text) ? cuda : pythonLanguage;

// ---- drafts: one for each user and leaderboard, in the browser's storage ----

const DRAFT = 'podium-draft:', DRAFT_DAYS = 30, SAVE_AFTER_MS = 300;

// A browser may forbid storage or have no space left; the editor then works without drafts.
const ignoreFailure = (action) => {
	try {
		return action();
	} catch {
		return null;
	}
};

const readDraft = (key) => ignoreFailure(() => JSON.parse(localStorage.getItem(DRAFT + key)));
const dropDraft = (key) => ignoreFailure(() => localStorage.removeItem(DRAFT + key));
const saveDraft = (key, text, name) => ignoreFailure(
	() => localStorage.setItem(DRAFT + key, JSON.stringify({ text, name, at: Date.now() })));

const dropOldDrafts = () => ignoreFailure(() => {
	for (const name of Object.keys(localStorage)) {
		if (!name.startsWith(DRAFT))
			continue;
		const key = name.slice(DRAFT.length), draft = readDraft(key);
		if (!(Date.now() - draft?.at < DRAFT_DAYS * 86_400_000))
			dropDraft(key);
	}
});

// ---- the editor ----

const replaceAll = (view, text) => view.dispatch({
	changes: { from: 0, to: view.state.doc.length, insert: text },
	selection: { anchor: 0 }, userEvent: 'input.replace' });

// Tab indents once the user works in the text. Tab from another field passes through, and Escape
// lets Tab leave, so that the keyboard is never trapped.
function tabKeys() {
	let isPressed = false;
	const own = ['Tab', 'Shift', 'Escape', 'Control', 'Alt', 'Meta'];
	return EditorView.domEventHandlers({
		mousedown: (event, view) => {
			isPressed = true;
			view.setTabFocusMode(false);
		},
		focus: (event, view) => {
			view.setTabFocusMode(!isPressed);
			isPressed = false;
		},
		keydown: (event, view) => {
			if (!own.includes(event.key))
				view.setTabFocusMode(false);
		},
	});
}

// Chrome keeps the look of text that is typed over by a style attribute, which the
// Content-Security-Policy forbids. So the editor replaces selected text itself. The state may not
// know the newest selection yet; the document does.
const selectedIn = (view) => {
	const { main } = view.state.selection, selection = document.getSelection();
	if (!main.empty || selection.isCollapsed || !view.contentDOM.contains(selection.anchorNode)
		|| !view.contentDOM.contains(selection.focusNode))
		return main;
	const range = selection.getRangeAt(0);
	return { from: view.posAtDOM(range.startContainer, range.startOffset),
		to: view.posAtDOM(range.endContainer, range.endOffset) };
};
const typeOver = EditorView.domEventHandlers({ beforeinput: (event, view) => {
	if (event.inputType !== 'insertText' || event.data === null || view.composing)
		return false;
	const { from, to } = selectedIn(view);
	if (from >= to)
		return false;
	event.preventDefault();
	view.dispatch({ changes: { from, to, insert: view.state.toText(event.data) },
		selection: { anchor: from + view.state.toText(event.data).length },
		userEvent: 'input.type', scrollIntoView: true });
	return true;
} });

const freeTab = (view) => {
	view.setTabFocusMode(true);
	return false; // so that Escape also closes the search
};

function start(field) {
	const form = field.form, label = document.getElementById('code-label');
	const state = document.getElementById('code-state');
	const key = field.dataset.draft, offered = field.value, language = new Compartment();
	const fileName = form.elements.code_name;
	let timer, isChanged = false;

	const say = (text, name, act) => {
		state.textContent = text;
		if (!name)
			return;
		const button = Object.assign(document.createElement('button'),
			{ type: 'button', className: 'link', textContent: name });
		button.addEventListener('click', act);
		state.append(' ', button);
	};
	const save = () => {
		clearTimeout(timer);
		if (!isChanged)
			return;
		isChanged = false;
		if (field.value.trim() && field.value !== offered)
			saveDraft(key, field.value, fileName.value);
		else
			dropDraft(key);
	};
	const submit = () => {
		form.requestSubmit(form.querySelector('[type=submit]'));
		return true;
	};
	const take = async (file) => {
		const text = file.size <= 1_000_000 ? await file.text() : null;
		if (text === null || /[\0\ufffd]/.test(text))
			return say(`${file.name} is larger than 1 MB or no text.`);
		replaceAll(view, text.replaceAll('\r\n', '\n'));
		fileName.value = form.elements.file.accept.split(', ')
			.some((ending) => file.name.endsWith(ending)) ? file.name : '';
		view.focus();
		return say(`Read ${file.name}.`);
	};
	const changed = EditorView.updateListener.of((update) => {
		if (!update.docChanged)
			return;
		isChanged = true;
		field.value = update.state.doc.toString();
		clearTimeout(timer);
		timer = setTimeout(save, SAVE_AFTER_MS);
		if (!field.dataset.language)
			view.dispatch({ effects: language.reconfigure(languageOf('', view.state.sliceDoc(0, 2000))) });
	});

	const described = field.getAttribute('aria-describedby') ?? '';
	const view = new EditorView({ doc: offered, extensions: [
		lineNumbers(), highlightSpecialChars(), history(), indentOnInput(), bracketMatching(),
		highlightSelectionMatches(), search({ top: true }), syntaxHighlighting(colours), theme,
		language.of(languageOf(field.dataset.language, offered)),
		indentUnit.of('    '), EditorState.tabSize.of(4), tabKeys(), typeOver, changed,
		Prec.highest(keymap.of([
			{ key: 'Mod-Enter', run: submit }, { key: 'Ctrl-Enter', run: submit },
			{ key: 'Escape', run: freeTab }])),
		keymap.of([{ key: 'Tab', run: indentMore, shift: indentLess },
			...searchKeymap, ...historyKeymap, ...defaultKeymap]),
		EditorView.contentAttributes.of({ id: 'code', tabindex: '0', 'aria-labelledby': label.id,
			'aria-describedby': `code-keys ${described}`.trim(),
			...field.ariaInvalid === 'true' && { 'aria-invalid': 'true' } }),
		EditorView.domEventHandlers({ drop: (event) => {
			const [file] = event.dataTransfer?.files ?? [];
			if (!file)
				return false;
			event.preventDefault();
			take(file);
			return true;
		} }),
	] });

	field.id = 'code-field';
	field.hidden = true;
	field.after(view.dom);
	view.dom.classList.add('code');
	label.addEventListener('click', () => view.focus());
	form.addEventListener('submit', () => {
		save();
		// podium.js drops the draft when the submission's page opens.
		ignoreFailure(() => sessionStorage.setItem('podium-sent', DRAFT + key));
	});
	addEventListener('pagehide', save);

	dropOldDrafts();
	ignoreFailure(() => sessionStorage.removeItem('podium-sent'));
	const draft = 'restores' in field.dataset && readDraft(key);
	if (draft && draft.text !== offered) {
		const hint = document.getElementById('code-hint'), words = hint?.textContent;
		hint?.replaceChildren('The code is your draft.');
		replaceAll(view, draft.text);
		fileName.value = draft.name ?? '';
		say('Restored your draft.', 'Discard', () => {
			replaceAll(view, offered);
			fileName.value = fileName.defaultValue;
			hint?.replaceChildren(words);
			save();
			say('');
			view.focus();
		});
	}
}

const field = document.querySelector('textarea[data-draft]');
if (field && 'adoptedStyleSheets' in document)
	start(field);
