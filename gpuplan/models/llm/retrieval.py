"""Retrieval: embedding and reranking throughput, memory of a vector index, and the VMs that hold it. [gpuplan-method]_"""

import math

from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one


def encoder_throughput(
    parameters: float,
    *,
    passage_tokens: float,
    layers: int = 0,
    attention_size: int = 0,
    vocabulary_parameters: float = 0.0,
    tensor_tflops: float,
    compute_share: float = 0.35,
    gpu_share: float = 1.0,
) -> float:
    """Tokens per second that an embedding or reranking model reads on one GPU, many passages at once.

    Parameters:
        parameters: Parameters of the model, in 10^9. [-]
        passage_tokens: Tokens of a passage; of a reranker query and passage together. [-]
        layers: Layers of the model; 0 where not stated: then attention is not counted. [-]
        attention_size: Heads times their width. [-]
        vocabulary_parameters: Those of the input table, in 10^9, which is looked up and not multiplied. [-]
        tensor_tflops: Dense rate of the GPU in FP16. [TFLOP/s]
        compute_share: Share of that rate that is reached, with passages of uneven length. [-]
        gpu_share: Share of a GPU that the model has. [-]

    share x rate / (2 x (parameters - table) + 4 x layers x attention_size x passage): one forward pass, each token looking at the whole passage. The share
    is assumed, with a wide range: no published run of an encoder was found that names model, board, length and batch.

    >>> round(
    ...     encoder_throughput(
    ...         0.568, layers=24, attention_size=1024, passage_tokens=512, vocabulary_parameters=0.256, tensor_tflops=362
    ...     ),
    ...     -3,
    ... )
    188000.0
    """
    above_zero(
        parameters=parameters, tensor_tflops=tensor_tflops, compute_share=compute_share, gpu_share=gpu_share
    )
    zero_to_one(compute_share=compute_share, gpu_share=gpu_share)
    above_zero(passage_tokens=passage_tokens)
    not_negative(layers=layers, attention_size=attention_size, vocabulary_parameters=vocabulary_parameters)
    if vocabulary_parameters >= parameters:
        raise ValueError(
            f"vocabulary_parameters is {vocabulary_parameters}; it must be below the parameters, {parameters}"
        )
    operations = 2e9 * (parameters - vocabulary_parameters) + 4 * layers * attention_size * passage_tokens
    return gpu_share * compute_share * tensor_tflops * 1e12 / operations


def index_gib(
    vectors: float,
    *,
    dimensions: int,
    dimension_bytes: float = 4.0,
    neighbours: int = 16,
    neighbour_bytes: float = 16.0,
    headroom_share: float = 0.2,
) -> float:
    """Memory of a graph index (HNSW) over vectors, all of it in memory.

    Parameters:
        vectors: Vectors in the index. [-]
        dimensions: Numbers of a vector. [-]
        dimension_bytes: Bytes of each: 4 as FP32, 2 as FP16, 1 as INT8. [-]
        neighbours: Most neighbours that a vector is linked to in a layer of the graph (M). [-]
        neighbour_bytes: Bytes of a neighbour. [-]
        headroom_share: What queries, updates and the system need, as a share of the rest. [-]

    One copy; texts and metadata come on top. vectors x (dimensions x bytes + neighbours x bytes) x (1 + headroom).
    [scylladb-vector-sizing]_

    >>> round(index_gib(10e6, dimensions=1024), 1)
    48.6
    """
    above_zero(vectors=vectors, dimension_bytes=dimension_bytes)
    at_least_one(dimensions=dimensions, neighbours=neighbours)
    not_negative(neighbour_bytes=neighbour_bytes, headroom_share=headroom_share)
    vector_bytes = dimensions * dimension_bytes + neighbours * neighbour_bytes
    return vectors * vector_bytes * (1 + headroom_share) / 2**30


def database_vms(
    index_gib: float, *, vm_memory_gib: float, copies: int = 2, usable_share: float = 0.8
) -> int:
    """Vector database VMs that hold an index in memory.

    Parameters:
        index_gib: Memory of one copy of the index. [GiB]
        vm_memory_gib: Memory of a VM. [GiB]
        copies: Copies of the index, each in other VMs. [-]
        usable_share: Share of a VM's memory that the index can fill. [-]

    copies x ceil(index / (memory x share)): no VM holds parts of two copies, so that the loss of one leaves a whole index.

    >>> database_vms(48.6, vm_memory_gib=64)
    2
    """
    above_zero(index_gib=index_gib, vm_memory_gib=vm_memory_gib, usable_share=usable_share)
    zero_to_one(usable_share=usable_share)
    at_least_one(copies=copies)
    return copies * math.ceil(index_gib / (vm_memory_gib * usable_share))


def busy_gpus(requests: float, *, request_tokens: float, throughput: float, busy_share: float = 0.6) -> float:
    """GPUs that process a number of requests per second without much queueing.

    Parameters:
        requests: Requests a second at the peak: queries to embed, or queries times the passages that each reranks. [-]
        request_tokens: Tokens of a request. [-]
        throughput: Tokens per second that one GPU reads. [-]
        busy_share: Share of the time that a GPU may be busy. [-]

    requests x tokens / (throughput x share).

    >>> busy_gpus(20 * 50, request_tokens=600, throughput=200_000, busy_share=0.6)
    5.0
    """
    not_negative(requests=requests)
    above_zero(request_tokens=request_tokens, throughput=throughput, busy_share=busy_share)
    zero_to_one(busy_share=busy_share)
    return requests * request_tokens / (throughput * busy_share)


def embedding_time_h(tokens: float, *, gpus: float, throughput: float) -> float:
    """Hours to embed documents once.

    Parameters:
        tokens: Tokens of all passages. [-]
        gpus: GPUs that embed them. [GPU]
        throughput: Tokens per second that one GPU reads. [-]

    tokens / (GPUs x throughput) / 3600.

    >>> embedding_time_h(1.44e9, gpus=2, throughput=200_000)
    1.0
    """
    above_zero(tokens=tokens, gpus=gpus, throughput=throughput)
    return tokens / (gpus * throughput) / 3600
