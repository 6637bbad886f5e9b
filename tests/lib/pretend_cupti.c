/* A libcupti.so.13 for tests without a GPU. Tests say what the driver does, and the library tells
 * its subscriber, as CUPTI would. */
#include "tests/lib/pretend_cupti.h"

#include <string.h>

#define DECLARE(name, member, parameters) unsigned int name parameters;
CUPTI_CALLS(DECLARE)

enum { refused = 999, domains = 4, numbers = 1024 };

static void tell(unsigned int domain, uint32_t number, const void *data)
{
	if (pretend_cupti.hear && pretend_cupti.hears[domain][number])
		pretend_cupti.hear(pretend_cupti.ours, domain, number, data);
}

static void tell_call(
	uint32_t number, unsigned int site, const void *parameters, unsigned int status)
{
	const struct cupti_driver_call call = { site, "", parameters, &status };
	tell(CUPTI_DOMAIN_DRIVER, number, &call);
}

static void tell_module(const void *cubin, size_t bytes)
{
	struct cupti_module module = { 1, bytes, cubin };
	const struct cupti_resource resource = { NULL, NULL, &module };
	tell(CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED, &resource);
}

struct pretend_cupti pretend_cupti = { .tell_call = tell_call, .tell_module = tell_module };

static bool refuses(const char *name)
{
	return pretend_cupti.refuses && strcmp(pretend_cupti.refuses, name) == 0;
}

unsigned int cuptiSubscribe(struct CUpti_Subscriber_st **subscriber, cupti_hear hear, void *ours)
{
	if (refuses("cuptiSubscribe"))
		return refused;
	if (pretend_cupti.hear)
		return CUPTI_CALL_TAKEN;
	*subscriber = (struct CUpti_Subscriber_st *)&pretend_cupti;
	pretend_cupti.hear = hear;
	pretend_cupti.ours = ours;
	return 0;
}

unsigned int cuptiUnsubscribe(struct CUpti_Subscriber_st *subscriber)
{
	pretend_cupti.hear = NULL;
	memset(pretend_cupti.hears, 0, sizeof pretend_cupti.hears);
	return subscriber != (struct CUpti_Subscriber_st *)&pretend_cupti;
}

unsigned int cuptiEnableCallback(
	uint32_t enable, struct CUpti_Subscriber_st *subscriber, unsigned int domain, uint32_t number)
{
	if (refuses("cuptiEnableCallback") || domain >= domains || number >= numbers)
		return refused;
	pretend_cupti.hears[domain][number] = enable;
	return subscriber != (struct CUpti_Subscriber_st *)&pretend_cupti;
}

unsigned int cuptiGetResultString(unsigned int status, const char **name)
{
	*name = "CUPTI_PRETEND_ERROR";
	return status != refused;
}
