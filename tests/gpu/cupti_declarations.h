/* Compares harness/sealed/cupti.h with NVIDIA's header, as isolated_declarations.h does. */
#ifndef PODIUM_TESTS_GPU_CUPTI_DECLARATIONS_H
#define PODIUM_TESTS_GPU_CUPTI_DECLARATIONS_H

#include "harness/sealed/cupti.h"
#include "tests/gpu/isolated_declarations.h"

#include <cupti.h>

SAME_VALUE(CUPTI_CALL_SUCCEEDED, CUPTI_SUCCESS)
SAME_VALUE(CUPTI_CALL_TAKEN, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
SAME_VALUE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API)
SAME_VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE)
SAME_VALUE(CUPTI_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED)
SAME_VALUE(CUPTI_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
SAME_VALUE(CUPTI_SITE_ENTER, CUPTI_API_ENTER)
SAME_VALUE(CUPTI_SITE_EXIT, CUPTI_API_EXIT)
SAME_VALUE(CUPTI_RECORD_COPY, CUPTI_ACTIVITY_KIND_MEMCPY)
SAME_VALUE(CUPTI_RECORD_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET)
SAME_VALUE(CUPTI_RECORD_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
SAME_VALUE(CUPTI_FLUSH_ALL, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)

SAME_PLACE(struct cupti_driver_call, site, CUpti_CallbackData, callbackSite)
SAME_PLACE(struct cupti_driver_call, name, CUpti_CallbackData, functionName)
SAME_PLACE(struct cupti_driver_call, parameters, CUpti_CallbackData, functionParams)
SAME_PLACE(struct cupti_driver_call, status, CUpti_CallbackData, functionReturnValue)
SAME_PLACE(struct cupti_resource, context, CUpti_ResourceData, context)
SAME_PLACE(struct cupti_resource, stream, CUpti_ResourceData, resourceHandle)
SAME_PLACE(struct cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor)
SAME_PLACE(struct cupti_module, number, CUpti_ModuleResourceData, moduleId)
SAME_PLACE(struct cupti_module, bytes, CUpti_ModuleResourceData, cubinSize)
SAME_PLACE(struct cupti_module, cubin, CUpti_ModuleResourceData, pCubin)

SAME_PLACE(struct cupti_clone, node, CUpti_GraphData, node)
SAME_PLACE(struct cupti_clone, original, CUpti_GraphData, originalNode)

#define SAME_RECORD(theirs, part) \
	SAME_PLACE(struct cupti_record, kind, theirs, kind) \
	SAME_PLACE(struct cupti_record, begin_ns, theirs, start) \
	SAME_PLACE(struct cupti_record, end_ns, theirs, end) \
	SAME_PLACE(struct cupti_record, part.node, theirs, graphNodeId)
SAME_RECORD(CUpti_ActivityKernel10, kernel)
SAME_RECORD(CUpti_ActivityMemcpy6, other)
SAME_RECORD(CUpti_ActivityMemset4, other)

#define SAME_CALL(name, number, kind, at, member) \
	SAME_VALUE(number, CUPTI_DRIVER_TRACE_CBID_##name) \
	SAME_VALUE(at, offsetof(name##_params, member))
CUPTI_DRIVER_CALLS(SAME_CALL)
CUPTI_TAGGED_CALLS(SAME_TYPE)
SAME_TYPE(cuptiActivityGetNextRecord, , (uint8_t * buffer, size_t valid, CUpti_Activity **record))

#endif
