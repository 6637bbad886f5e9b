#include "lib/gpu/peaks.h"

#include "lib/base/scope.h"
#include "lib/task/formula.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Rates are in TFLOP/s, and those of matrix units where these support the type. They never support
 * FP32, and FP64 only on A100 and later. FP16 also stands for BF16. A100 is the board with 80 GB.
 * The board with 40 GB has the same model name, but only 1555 GB/s. The FP16 rates of GeForce
 * boards are those with FP32 accumulation.
 *
 * `Most` is the rate of the fastest type of the matrix units: FP4 on Blackwell, INT4 on Ampere, Ada
 * and Turing, FP8 on Hopper, FP16 on V100. The sources are the architecture whitepapers. A 4-bit
 * rate that a datasheet leaves out is twice the 8-bit rate.
 *
 * L2 in MiB is from the same sources. NVIDIA does not state the L2 of boards with a GH100 and all
 * six memory stacks. The table has the 60 MB of the whole chip for them (Hopper whitepaper; an H100
 * with five stacks has 50 MB). */
static const struct gpu_peaks PEAKS[] = {
	/* model            GB/s     FP64   FP32   TF32   FP16   FP8     Most    L2 */
	{ "B200", 8000, { 37, 75, 1125, 2250, 4500 }, 9000, 126, "NVIDIA HGX B200 datasheet" },
	{ "GB200", 8000, { 40, 80, 1250, 2500, 5000 }, 10000, 126, "NVIDIA GB200 NVL72 datasheet" },
	{ "H200", 4800, { 67, 67, 494.7, 989.4, 1979 }, 1979, 60, "NVIDIA H200 datasheet" },
	{ "H200-NVL", 4800, { 60, 60, 417.5, 835.5, 1671 }, 1671, 60, "NVIDIA H200 datasheet" },
	{ "GH200", 4000, { 67, 67, 494.7, 989.4, 1979 }, 1979, 60,
		"NVIDIA GH200 datasheet, HBM3 version" },
	{ "H100", 3350, { 67, 67, 494.7, 989.4, 1979 }, 1979, 50, "NVIDIA H100 datasheet, SXM" },
	{ "H100-NVL", 3900, { 60, 60, 417.5, 835.5, 1671 }, 1671, 60, "NVIDIA H100 NVL datasheet" },
	{ "H100-PCIe", 2000, { 51, 51, 378, 756, 1513 }, 1513, 50, "NVIDIA H100 datasheet, PCIe" },
	{ "A100", 2039, { 19.5, 19.5, 156, 312, 0 }, 1248, 40, "NVIDIA A100 datasheet, 80 GB SXM" },
	{ "A100-PCIe", 1935, { 19.5, 19.5, 156, 312, 0 }, 1248, 40,
		"NVIDIA A100 datasheet, 80 GB PCIe" },
	{ "L40S", 864, { 1.43, 91.6, 183, 362, 733 }, 1466, 96, "NVIDIA L40S datasheet" },
	{ "L40", 864, { 1.41, 90.5, 90.5, 181, 362 }, 724, 96, "NVIDIA L40 datasheet" },
	{ "L4", 300, { 0.49, 30.3, 60, 121, 242 }, 485, 48, "NVIDIA L4 datasheet" },
	{ "A10", 600, { 0.98, 31.2, 62.5, 125, 0 }, 500, 6, "NVIDIA A10 datasheet" },
	{ "T4", 320, { 0.25, 8.1, 0, 65, 0 }, 260, 4, "NVIDIA T4 datasheet" },
	{ "V100", 900, { 7.8, 15.7, 0, 125, 0 }, 125, 6, "NVIDIA V100 datasheet, SXM2" },
	{ "RTX4090", 1008, { 1.29, 82.6, 82.6, 165.2, 330.3 }, 1321.2, 72,
		"NVIDIA Ada GPU architecture whitepaper" },
	{ "RTX3090", 936, { 0.56, 35.6, 35.6, 71, 0 }, 568, 6, "NVIDIA Ampere GA102 whitepaper" },
};

/* Names of number types in case lines. A part before a dot, as in torch.float32, is skipped. The
 * first entry whose `beginning` fits the word counts. */
static const struct {
	const char *beginning;
	enum number_type type;
	const char *name;
} TYPES[] = {
	{ "float64", NUMBER_FP64, "fp64" },
	{ "fp64", NUMBER_FP64, "fp64" },
	{ "double", NUMBER_FP64, "fp64" },
	{ "f64", NUMBER_FP64, "fp64" },
	{ "tf32", NUMBER_TF32, "tf32" },
	{ "float32", NUMBER_FP32, "fp32" },
	{ "fp32", NUMBER_FP32, "fp32" },
	{ "f32", NUMBER_FP32, "fp32" },
	{ "float16", NUMBER_FP16, "fp16" },
	{ "fp16", NUMBER_FP16, "fp16" },
	{ "f16", NUMBER_FP16, "fp16" },
	{ "half", NUMBER_FP16, "fp16" },
	{ "bfloat16", NUMBER_FP16, "fp16" },
	{ "bf16", NUMBER_FP16, "fp16" },
	{ "float8", NUMBER_FP8, "fp8" },
	{ "fp8", NUMBER_FP8, "fp8" },
	{ "f8", NUMBER_FP8, "fp8" },
	{ "e4m3", NUMBER_FP8, "fp8" },
	{ "e5m2", NUMBER_FP8, "fp8" },
	{ "float", NUMBER_FP32, "fp32" },
};

static const char *const TYPE_ARGUMENTS[] = { "dtype", "precision", "type" };

const struct gpu_peaks *peaks_find(const char *model)
{
	for (size_t i = 0; i < COUNT(PEAKS); i++)
		if (strcasecmp(PEAKS[i].model, model) == 0)
			return &PEAKS[i];
	return NULL;
}

const char *peaks_number_name(enum number_type type)
{
	for (size_t i = 0; i < COUNT(TYPES); i++)
		if (TYPES[i].type == type)
			return TYPES[i].name;
	return "";
}

/* The text after "name:" in a case line, which ends at the next ";"; NULL if there is none. */
static const char *find_argument(const char *case_line, const char *name)
{
	size_t length = strlen(name);
	for (const char *part = case_line; *part;) {
		part += strspn(part, " ;");
		if (strncmp(part, name, length) == 0 && part[length] == ':')
			return part + length + 1 + strspn(part + length + 1, " ");
		part += strcspn(part, ";");
	}
	return NULL;
}

enum number_type peaks_number_type(const char *case_line)
{
	for (size_t i = 0; i < COUNT(TYPE_ARGUMENTS); i++) {
		const char *word = find_argument(case_line, TYPE_ARGUMENTS[i]);
		if (!word)
			continue;
		size_t length = strcspn(word, ";");
		const char *dot = memchr(word, '.', length);
		word = dot ? dot + 1 : word;
		for (size_t k = 0; k < COUNT(TYPES); k++)
			if (strncasecmp(word, TYPES[k].beginning, strlen(TYPES[k].beginning)) == 0)
				return TYPES[k].type;
	}
	return NUMBER_FP16;
}

double peaks_evaluate(const char *formula, const char *case_line)
{
	double value;
	return formula && formula_evaluate(formula, case_line, &value, NULL) == 0 && value > 0 ? value
																						   : NAN;
}

static struct rates rates_of(
	double flops, double bytes, double ns, enum number_type type, const char *model)
{
	const struct gpu_peaks *peaks = peaks_find(model);
	struct rates rates = {
		.gb_s = NAN, .tflop_s = NAN, .memory_percent = NAN, .compute_percent = NAN, .type = type
	};
	if (!isfinite(ns) || ns <= 0)
		return rates;
	rates.gb_s = bytes / ns; /* bytes per ns */
	rates.tflop_s = flops / ns / 1e3;
	if (peaks)
		rates.memory_percent = 100 * rates.gb_s / peaks->memory_gb_s;
	if (peaks && peaks->tflop_s[type] > 0)
		rates.compute_percent = 100 * rates.tflop_s / peaks->tflop_s[type];
	return rates;
}

struct rates rates_of_case(
	const char *flops, const char *bytes, const char *case_line, double ns, const char *model)
{
	return rates_of(peaks_evaluate(flops, case_line), peaks_evaluate(bytes, case_line), ns,
		peaks_number_type(case_line), model);
}
