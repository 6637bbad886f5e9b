#include "cgi/http/confirmation.h"

#include "templates/confirmation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char ANSWER[] = "confirm";

void confirmation_says(
	struct request *request, struct confirmation *confirmation, const char *format, ...)
{
	char sentence[1000];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof sentence, format, arguments);
	va_end(arguments);
	if (confirmation->count < confirmation_sentences)
		confirmation->sentences[confirmation->count++] = arena_strdup(request->arena, sentence);
}

bool confirmation_given(const struct request *request, const struct confirmation *confirmation)
{
	const char *answer = request_form(request, ANSWER);
	return answer && strcmp(answer, confirmation->typed ? confirmation->typed : "yes") == 0;
}

bool confirmation_keeps(const struct field *field)
{
	return strcmp(field->name, ANSWER) != 0 && strcmp(field->name, "csrf") != 0;
}

int confirmation_ask(struct request *request, struct confirmation *confirmation)
{
	const char *answer = request_form(request, ANSWER);
	confirmation->answer = answer ? answer : "";
	if (answer && confirmation->typed)
		confirmation->error =
			arena_printf(request->arena, "This is not %s, so nothing was changed; type %s.",
				confirmation->what, confirmation->typed);
	confirmation->path = request->path;
	confirmation->fields = request->form;
	confirmation->field_count = request->form_count;
	struct page page = page_make(request, confirmation->title, confirmation->section);
	request->status = 422;
	confirmation_page(&request->body, &page, confirmation);
	return 0;
}
