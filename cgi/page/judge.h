/* Explains how Podium measures times: the badge of an engine, and the page /judge. */
#ifndef PODIUM_CGI_PAGE_JUDGE_H
#define PODIUM_CGI_PAGE_JUDGE_H

/* Describes an engine ("isolated", "custom") in one sentence; "" for an unknown word. */
const char *engine_meaning(const char *engine);

#endif
