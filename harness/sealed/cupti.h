/* Declarations of the calls of NVIDIA's CUPTI, and of the driver's calls that CUPTI reports. The
 * builder and the launcher bind the library at run time, because Podium is built without its
 * headers. tests/gpu/cupti_declarations.h compares the declarations with those headers.
 *
 * Source: CUPTI API, "CUPTI Callback API", "CUPTI Activity API" and "CUPTI Result Codes". */
#ifndef PODIUM_SEALED_CUPTI_H
#define PODIUM_SEALED_CUPTI_H

#include <stddef.h>
#include <stdint.h>

enum {
	CUPTI_CALL_SUCCEEDED = 0,
	CUPTI_CALL_TAKEN = 39,     /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
	CUPTI_DOMAIN_DRIVER = 1,   /* CUPTI_CB_DOMAIN_DRIVER_API */
	CUPTI_DOMAIN_RESOURCE = 3, /* CUPTI_CB_DOMAIN_RESOURCE */
	CUPTI_MODULE_LOADED = 6,   /* CUPTI_CBID_RESOURCE_MODULE_LOADED */
	CUPTI_NODE_CLONED = 20,    /* CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED */
	CUPTI_SITE_ENTER = 0,      /* CUPTI_API_ENTER */
	CUPTI_SITE_EXIT = 1,       /* CUPTI_API_EXIT */
	CUPTI_RECORD_COPY = 1,     /* CUPTI_ACTIVITY_KIND_MEMCPY */
	CUPTI_RECORD_MEMSET = 2,   /* CUPTI_ACTIVITY_KIND_MEMSET */
	/* CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: kernels may overlap as without CUPTI */
	CUPTI_RECORD_KERNEL = 10,
	CUPTI_FLUSH_ALL = 1, /* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */
};

struct CUpti_Subscriber_st; /* opaque; cupti.h uses the same tags */
struct CUctx_st;
struct CUgraphNode_st;

struct cupti_driver_call { /* the first members of CUpti_CallbackData */
	unsigned int site;
	const char *name;
	const void *parameters;
	void *status; /* a CUresult, at the exit */
};

struct cupti_resource { /* CUpti_ResourceData */
	void *context, *stream;
	void *descriptor; /* here a struct cupti_module or a struct cupti_clone */
};

struct cupti_module { /* CUpti_ModuleResourceData */
	uint32_t number;
	size_t bytes;
	const char *cubin;
};

struct cupti_clone { /* the first members of CUpti_GraphData */
	void *graph, *original_graph;
	struct CUgraphNode_st *node, *original;
};

/* The record of a kernel, copy or memset that ran: the first members of CUpti_ActivityKernel10,
 * CUpti_ActivityMemcpy6 and CUpti_ActivityMemset4. They have had these places since CUDA 11. Times
 * are ns of a clock that all records share; 0: unknown. */
struct cupti_record {
	unsigned int kind;
	uint8_t kind_of_copy[12];
	uint64_t begin_ns, end_ns;
	union {
		struct {
			uint8_t launch[112];
			uint64_t node;
		} kernel;
		struct {
			uint8_t transfer[32];
			uint64_t node; /* as from cuptiGetGraphNodeId; 0: not in a graph */
		} other;
	};
};

/* CUPTI asks for an empty buffer, and gives back one with `valid` bytes of records. */
typedef void (*cupti_lend)(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void (*cupti_give_back)(
	struct CUctx_st *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

typedef void (*cupti_hear)(void *ours, unsigned int domain, uint32_t number, const void *data);

/* As CUDA_CALLS in harness/isolated/driver.h. The last call's record has no tag in cupti.h. */
#define CUPTI_CALLS(X) \
	CUPTI_TAGGED_CALLS(X) \
	X(cuptiActivityGetNextRecord, next_record, \
		(uint8_t * buffer, size_t valid, struct cupti_record * *record))
#define CUPTI_TAGGED_CALLS(X) \
	X(cuptiSubscribe, subscribe, \
		(struct CUpti_Subscriber_st * *subscriber, cupti_hear hear, void *ours)) \
	X(cuptiUnsubscribe, unsubscribe, (struct CUpti_Subscriber_st * subscriber)) \
	X(cuptiEnableCallback, enable, \
		(uint32_t enable, struct CUpti_Subscriber_st * subscriber, unsigned int domain, \
			uint32_t number)) \
	X(cuptiGetResultString, result_name, (unsigned int status, const char **name)) \
	X(cuptiGetGraphNodeId, node_id, (struct CUgraphNode_st * node, uint64_t * id)) \
	X(cuptiActivityRegisterCallbacks, use_buffers, (cupti_lend lend, cupti_give_back give_back)) \
	X(cuptiActivityEnable, record, (unsigned int kind)) \
	X(cuptiActivityFlushAll, flush, (uint32_t flags))

extern struct cupti {
#define CUPTI_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	CUPTI_CALLS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
} sealed_cupti;

/* Loads the library. From then on CUPTI calls `hear`, on any thread, for the events that
 * sealed_cupti_enable() chooses. `folders`: folders with libcupti.so or with Python's packages,
 * separated by colons; after them the loader's folders are searched. A libcupti.so that the process
 * has already loaded comes first. Returns 0, or ISOLATED_FAILED with a sentence from
 * isolated_why(). A process can have only one user of CUPTI, so profilers fail until
 * sealed_cupti_close(). */
int sealed_cupti_open(const char *folders, cupti_hear hear, void *ours);
void sealed_cupti_close(void);
int sealed_cupti_enable(unsigned int domain, uint32_t number);

/* Returns 0 for the status of a successful call, or ISOLATED_FAILED with a sentence that names the
 * call. */
int sealed_cupti_check(unsigned int status, const char *name);

/* The kind of a parameter of a driver's call. MADE: a pointer to where the call puts the handle. */
enum cupti_parameter {
	CUPTI_MODULE_MADE,
	CUPTI_MODULE_UNLOADED,
	CUPTI_LIBRARY_MADE,
	CUPTI_LIBRARY,
	CUPTI_LIBRARY_UNLOADED,
	CUPTI_FUNCTION_MADE,
	CUPTI_FUNCTION, /* or a CUkernel */
	CUPTI_TEXTURE_MADE,
	CUPTI_SURFACE_MADE,
};

/* X(call of the driver, its number in CUPTI, the kind of a parameter, its offset in the call's
 * struct of parameters, its name there). Calls with libraries, kernels and functions load the
 * module of a library at its first use. */
#define CUPTI_DRIVER_CALLS(X) \
	X(cuModuleLoad, 18, CUPTI_MODULE_MADE, 0, module) \
	X(cuModuleLoadData, 19, CUPTI_MODULE_MADE, 0, module) \
	X(cuModuleLoadDataEx, 20, CUPTI_MODULE_MADE, 0, module) \
	X(cuModuleLoadFatBinary, 21, CUPTI_MODULE_MADE, 0, module) \
	X(cuModuleUnload, 22, CUPTI_MODULE_UNLOADED, 0, hmod) \
	X(cuLibraryLoadData, 678, CUPTI_LIBRARY_MADE, 0, library) \
	X(cuLibraryLoadFromFile, 679, CUPTI_LIBRARY_MADE, 0, library) \
	X(cuLibraryUnload, 680, CUPTI_LIBRARY_UNLOADED, 0, library) \
	X(cuLibraryGetModule, 682, CUPTI_MODULE_MADE, 0, pMod) \
	X(cuLibraryGetGlobal, 684, CUPTI_LIBRARY, 16, library) \
	X(cuLibraryGetManaged, 685, CUPTI_LIBRARY, 16, library) \
	X(cuKernelGetFunction, 683, CUPTI_FUNCTION_MADE, 0, pFunc) \
	X(cuKernelGetAttribute, 686, CUPTI_FUNCTION, 16, kernel) \
	X(cuKernelSetAttribute, 687, CUPTI_FUNCTION, 8, kernel) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 374, CUPTI_FUNCTION, 8, func) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 451, CUPTI_FUNCTION, 8, func) \
	X(cuLaunchKernel, 307, CUPTI_FUNCTION, 0, f) \
	X(cuLaunchKernel_ptsz, 442, CUPTI_FUNCTION, 0, f) \
	X(cuLaunchKernelEx, 652, CUPTI_FUNCTION, 8, f) \
	X(cuLaunchKernelEx_ptsz, 653, CUPTI_FUNCTION, 8, f) \
	X(cuLaunchCooperativeKernel, 477, CUPTI_FUNCTION, 0, f) \
	X(cuLaunchCooperativeKernel_ptsz, 478, CUPTI_FUNCTION, 0, f) \
	X(cuTexObjectCreate, 339, CUPTI_TEXTURE_MADE, 0, pTexObject) \
	X(cuSurfObjectCreate, 343, CUPTI_SURFACE_MADE, 0, pSurfObject)

#endif
