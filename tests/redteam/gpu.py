"""The CUDA driver by ctypes, for attacks on a GPU: a copy of it lies beside those submissions."""
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry peek(.param .u64 source, .param .u64 place)
{
	.reg .u64 %a, %b, %value;
	ld.param.u64 %a, [source];
	ld.param.u64 %b, [place];
	ld.global.u64 %value, [%a];
	st.global.u64 [%b], %value;
	ret;
}
.visible .entry hang(.param .u64 source, .param .u64 place)
{
	.reg .u64 %b, %value;
	ld.param.u64 %b, [place];
again:
	ld.volatile.global.u64 %value, [%b];
	st.volatile.global.u64 [%b], %value;
	bra again;
}
\0"""


def check(name, *arguments):
    """Calls a function of the driver; an OSError with its number if it refuses."""
    result = getattr(cuda, name)(*arguments)
    if result:
        raise OSError(result, f"{name} answers {result}")


def launch(kernel, source, place):
    """One thread of `peek` or `hang`, in the current context."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check("cuModuleLoadData", ctypes.byref(module), PTX)
    check("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
    words = [ctypes.c_uint64(source), ctypes.c_uint64(place)]
    pointers = (ctypes.c_void_p * 2)(*(ctypes.addressof(word) for word in words))
    check("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, pointers, None)
    check("cuCtxSynchronize")
