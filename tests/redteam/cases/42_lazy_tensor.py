# 42 lazy_tensor
# attempts: to return something that is not an ordinary tensor: it computes only when it is
#   compared, compares as equal to everything, or has no memory
# required: FORGE-IGNORED
# verdict: wrong answer or runtime error
# engines: isolated
# on: cpu gpu
# variants: subclass dispatch equal closure meta sparse parameter-subclass generator numpy conj none nested
import torch


class Lazy(torch.Tensor):
    """Answers every question with the right result, which it computes then."""

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        own = [one.kept + one.kept if isinstance(one, Lazy) and hasattr(one, "kept") else one for one in arguments]
        return super().__torch_function__(function, (), own, options or {})


class Dispatch(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), options=None):
        return function(*[one.as_subclass(torch.Tensor) if isinstance(one, Dispatch) else one for one in arguments], **(options or {}))


class Equal:
    """Like a tensor, and the same as every other."""

    def __init__(self, like):
        self.like = like

    def __getattr__(self, name):
        return getattr(self.like, name)

    def __eq__(self, other):
        return torch.ones_like(self.like, dtype=torch.bool)

    __ne__ = __sub__ = __rsub__ = lambda self, other: torch.zeros_like(self.like)
    __hash__ = None


def lazy(data, kind):
    made = torch.zeros_like(data).as_subclass(kind)
    made.kept = data
    return made


def conj(data):
    """Complex, with a bit that says that it is not computed yet."""
    return torch.view_as_complex(torch.stack([data, data], -1)).conj()


def nested(data):
    made = []
    made.append(made)
    return made


MAKERS = {
    "subclass": lambda data: lazy(data, Lazy),
    "dispatch": lambda data: lazy(data, Dispatch),
    "equal": Equal,
    "closure": lambda data: lambda: data + data,
    "meta": lambda data: torch.empty_like(data, device="meta"),
    "sparse": lambda data: (data + data).to_sparse(),
    "parameter-subclass": lambda data: torch.nn.parameter.UninitializedParameter(),
    "generator": lambda data: (value for value in [data + data]),
    "numpy": lambda data: (data + data).cpu().numpy(),
    "conj": conj,
    "none": lambda data: None,
    "nested": nested,
}


def custom_kernel(data):
    return MAKERS["@VARIANT@"](data)
