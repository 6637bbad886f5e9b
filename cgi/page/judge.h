/* How times are taken, for readers: the badge of an engine, and the page /judge that explains it.
 */
#ifndef PODIUM_CGI_JUDGE_H
#define PODIUM_CGI_JUDGE_H

/* What an engine ("isolated", "custom") means, in one sentence; "" for any other word. */
const char *engine_meaning(const char *engine);

#endif
