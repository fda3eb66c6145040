"""Resource estimate of a run: parameters, memory on each GPU, time of a step, disk. Arithmetic, nothing measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GIB = 2**30
STATE_BYTES = 16
"""A parameter under Adam in mixed precision: float32 master, gradient and two moments."""
WORKSPACE = 6.0
"""GiB that CUDA, NCCL and the allocator keep."""
LOGIT_BYTES = 8
"""A logit as it is turned into a log-probability: one bfloat16, one float32, and what the softmax needs."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a model's configuration decides its size."""

    hidden: int
    layers: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    tied: bool

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Shape":
        """Read a transformers configuration (Llama, Qwen2, Qwen3 and their like)."""
        heads = config["num_attention_heads"]
        return cls(
            hidden=config["hidden_size"],
            layers=config["num_hidden_layers"],
            intermediate=config["intermediate_size"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head_dim=config.get("head_dim") or config["hidden_size"] // heads,
            vocabulary=config["vocab_size"],
            tied=bool(config.get("tie_word_embeddings", False)),
        )

    @property
    def parameters(self) -> int:
        """All weights, norms left out."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        layer = attention + 3 * self.hidden * self.intermediate
        return self.layers * layer + self.vocabulary * self.hidden * (1 if self.tied else 2)

    @property
    def cache_bytes(self) -> int:
        """The key-value cache of one token, bfloat16."""
        return 2 * 2 * self.layers * self.kv_heads * self.head_dim


@dataclass(frozen=True, slots=True)
class Workload:
    """What of a run decides the memory. `gpus` share the states; `tokens` is one micro-batch on one GPU;
    `sequences` is how many one vLLM engine draws at once; `offloaded` are the bytes of each parameter that wait in host
    memory while they are not used (weights 4, moments 8), for actor and critic together."""

    gpus: int
    tokens: int
    critic: bool
    rollout_share: float
    longest: int
    tensor_parallel: int = 1
    sequences: int = 256
    gpus_per_node: int = 8
    offloaded: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """GiB on each GPU. Training and rollouts take turns; the states of both models stay throughout."""

    states: float
    activations: float
    logits: float
    rollout_weights: float
    rollout_cache: float
    concurrent: int

    @property
    def training(self) -> float:
        """While the models are updated."""
        return self.states + self.activations + self.logits + WORKSPACE

    @property
    def rollout(self) -> float:
        """While vLLM generates."""
        return self.states + self.rollout_weights + self.rollout_cache + WORKSPACE

    @property
    def peak(self) -> float:
        return max(self.training, self.rollout)


def memory(shape: Shape, workload: Workload, gpu: float = 80.0) -> Memory:
    """Memory on each GPU of `gpu` GiB, gradient checkpointing on.

    Activations: one vector of the hidden size a layer and token in bfloat16, and one layer recomputed. `concurrent` is
    how many of the longest sequences vLLM holds at once in what is left of its share.
    """
    models = 2 if workload.critic else 1
    states = models * shape.parameters * STATE_BYTES / workload.gpus / GIB
    width = shape.layers * shape.hidden + 4 * (shape.hidden + shape.intermediate)
    activations = 2 * workload.tokens * width / GIB
    logits = LOGIT_BYTES * workload.tokens * shape.vocabulary / GIB
    weights = 2 * shape.parameters / workload.tensor_parallel / GIB
    cache = max(0.0, gpu * workload.rollout_share - weights)
    longest = workload.longest * shape.cache_bytes / workload.tensor_parallel / GIB
    return Memory(states, activations, logits, weights, cache, min(int(cache / longest), workload.sequences))


def host_gib(shape: Shape, workload: Workload) -> float:
    """Host memory of each node while the models are loaded, in GiB.

    Every process loads all weights in float32 where the output layer is the embedding, which verl cannot leave empty;
    else one process for all. One model is loaded at a time. What Ray and vLLM take besides is not counted.
    """
    copies = workload.gpus_per_node if shape.tied else 1
    offloaded = workload.offloaded * workload.gpus_per_node / workload.gpus
    return shape.parameters * (4 * copies + offloaded) / GIB


def checkpoint_gib(shape: Shape, critic: bool) -> float:
    """One checkpoint on disk: float32 weights and two moments, of the actor and the critic."""
    return (2 if critic else 1) * shape.parameters * 12 / GIB


@dataclass(frozen=True, slots=True)
class Gpu:
    """What a GPU can do, and the share of it that training and generating reach in practice."""

    flops: float
    bandwidth: float
    gib: float
    training_share: float = 0.4
    generating_share: float = 0.6


H100 = Gpu(flops=989e12, bandwidth=3.35e12, gib=80.0)
"""bfloat16 without sparsity, and HBM3, as the maker states them."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of training. Seconds; `tokens` are generated ones."""

    tokens: float
    generating: float
    training: float

    @property
    def seconds(self) -> float:
        return self.generating + self.training


def step(shape: Shape, workload: Workload, outputs: int, mean_tokens: float, gpu: Gpu = H100) -> Step:
    """How long a step of `outputs` outputs takes, each `mean_tokens` long on average.

    Generating is bound by memory: each token reads the weights once for all sequences in flight, and its own cache; as
    many are in flight as the cache holds at half their length, and no more than the engines take. Training is bound by
    arithmetic: forward and backward with recomputation (8 operations a parameter and token) and a forward pass before
    it (2), for each model, and the same again in proportion for attention over the sequence."""
    tokens = outputs * mean_tokens
    room = memory(shape, workload, gpu.gib).rollout_cache * GIB * workload.gpus
    engines = workload.gpus / workload.tensor_parallel
    in_flight = min(outputs, workload.sequences * engines, room / (shape.cache_bytes * mean_tokens / 2))
    reading = 2 * shape.parameters * workload.gpus + in_flight * shape.cache_bytes * mean_tokens / 2
    rate = gpu.bandwidth * gpu.generating_share * workload.gpus / reading * in_flight
    attention = 2 * mean_tokens * shape.heads * shape.head_dim * shape.layers
    operations = (2 if workload.critic else 1) * 5 * (2 * shape.parameters + attention)
    return Step(tokens, tokens / rate, tokens * operations / (gpu.flops * gpu.training_share * workload.gpus))
