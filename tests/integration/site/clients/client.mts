// Submits a file by fetch, waits for the result, and reads the ranking and the lists. The types
// are those that openapi-typescript generated. Prints what it read as JSON.
import type { components, operations } from "./api.js";

declare const process: { env: Record<string, string> };

type Submission = components["schemas"]["Submission"];
type Answer<name extends keyof operations> = operations[name]["responses"] extends {
	200: { content: { "application/json": infer body } };
}
	? body
	: never;
type NewSubmission = operations["createSubmission"]["requestBody"]["content"];

const { URL: site, TOKEN, SOURCE } = process.env;

async function ask(method: string, path: string, body?: BodyInit, type?: string) {
	const headers = { Authorization: `Bearer ${TOKEN}`, ...(type && { "Content-Type": type }) };
	const answer = await fetch(`${site}/api/v1${path}`, { method, headers, body });
	if (!answer.ok) {
		const problem = (await answer.json()) as components["schemas"]["Problem"];
		throw new Error(`${problem.status} ${problem.detail}`);
	}
	return answer.json();
}

// A text in a form is a part without a file name.
function formOf(fields: NewSubmission["multipart/form-data"]) {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields))
		for (const one of [value].flat()) form.append(name, one);
	return form;
}

const inJson: NewSubmission["application/json"] = {
	file: SOURCE,
	file_name: "text.py",
	mode: "test",
	gpus: ["H200"],
};
const path = "/leaderboards/small/submissions";
const made: Submission[] = [
	await ask("POST", path, formOf({ file: SOURCE, mode: "ranked", gpus: ["H200"] })),
	await ask("POST", path, JSON.stringify(inJson), "application/json"),
];
for (const { id } of made) {
	let state: Answer<"getSubmissionStatus">["state"];
	do {
		await new Promise((resolve) => setTimeout(resolve, 50));
		state = (await ask("GET", `/submissions/${id}/status`)).state;
	} while (state === "queued" || state === "running");
}
const finished: Submission[] = [];
for (const { id } of made) finished.push(await ask("GET", `/submissions/${id}`));
const ranking: Answer<"getRanking"> = await ask("GET", "/leaderboards/small/rankings?gpu=H200");
const boards: Answer<"listLeaderboards"> = await ask("GET", "/leaderboards");
const listed: Answer<"listSubmissions"> = await ask("GET", "/submissions");
const workers: Answer<"listWorkers"> = await ask("GET", "/workers");
const queue: Answer<"getQueue"> = await ask("GET", "/queue");
const me: Answer<"getMe"> = await ask("GET", "/me");
console.log(
	JSON.stringify({
		user: me.user,
		files: finished.map((one) => one.file_name),
		verdicts: finished.map((one) => one.verdict),
		ranking: ranking.items.map((entry) => [entry.user, entry.score_ns]),
		leaderboards: boards.items.map((one) => one.name),
		submissions: listed.items.map((one) => one.id).join() === made.map((one) => one.id).reverse().join(),
		workers: workers.items.length,
		queue: queue.items.map((one) => one.gpu),
	}),
);
