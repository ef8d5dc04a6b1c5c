"""Many columns in one value: a kernel says which columns it computes side by side, and LLVM keeps them in vector registers.

A value of lanes is a run of neighbouring numbers, `width(dtype)` of them. Every lane goes through the same operations in the same
order, so a column's result depends neither on its neighbours nor on its place. Products are added fused (one rounding)
wherever the processor can: what fast-math would leave to the compiler's mood is written down here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from partwise.kernels.compiling import inline


def _bytes() -> int:
    """Five sums, an operand and a broadcast number fit the registers: 32 of 64 bytes (4 to a value), or 16 of 32 (2 to a value)."""
    features = numba.config.CPU_FEATURES  # type: ignore[attr-defined]
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    return 256 if "+avx512f" in features else 64


BYTES = _bytes()
LINE = 64  # bytes of a cache line: a vector that straddles two costs double


def width(dtype: np.dtype[Any]) -> int:
    """How many columns a value of lanes holds."""
    return BYTES // dtype.itemsize


class Lanes(types.Type):
    """Numba's name for a value of lanes."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


def _vector(lanes: Any) -> ir.VectorType:
    return ir.VectorType(
        ir.FloatType() if lanes.dtype == types.float32 else ir.DoubleType(), 8 * BYTES // lanes.dtype.bitwidth
    )


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, _vector(lanes))


def _element(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    """Pointer to array[at] of a flat array."""
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [at])


def _broadcast(builder: Any, number: Any, vector: ir.VectorType) -> Any:
    nothing = ir.Constant(vector, ir.Undefined)
    index = ir.IntType(32)
    first = builder.insert_element(nothing, number, index(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(index, vector.count), [0] * vector.count))


def _operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Something that a kernel can do with lanes: types and LLVM instructions (kernels call it without the first argument)."""
    return intrinsic(function)


@_operation
def load(_typing: Any, array: Any, at: Any) -> Any:
    """The lanes array[at : at + width] of a flat array."""
    lanes = Lanes(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, array, args[0], args[1])
        return builder.load(builder.bitcast(pointer, _vector(lanes).as_pointer()), align=array.dtype.bitwidth // 8)

    return lanes(array, types.intp), generate


@_operation
def prefetch(_typing: Any, array: Any, at: Any) -> Any:
    """Bring array[at : at + width] into the second-level cache meanwhile; past the end of the array it does nothing."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, address = ir.IntType(32), ir.IntType(8).as_pointer()
        shape = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        hint = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        start = builder.bitcast(_element(context, builder, array, args[0], args[1]), address)
        for line in range(0, BYTES, LINE):
            builder.call(hint, [builder.gep(start, [number(line)]), number(0), number(2), number(1)])  # read, L2, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@_operation
def store(_typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    """array[at : at + width] = lanes, in a flat array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, array, args[0], args[1])
        builder.store(args[2], builder.bitcast(pointer, _vector(lanes).as_pointer()), align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@_operation
def add_multiples(_typing: Any, sums: Any, numbers: Any, at: Any, lanes: Any) -> Any:
    """The tuple of sums[p] + numbers[at + p] · lanes, each fused."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        result, vector = args[0], _vector(lanes)
        name = f"llvm.fmuladd.v{vector.count}f{lanes.dtype.bitwidth}"
        fused = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)
        for p in range(len(sums)):
            number = builder.load(_element(context, builder, numbers, args[1], builder.add(args[2], args[2].type(p))))
            terms = [_broadcast(builder, number, vector), args[3], builder.extract_value(args[0], p)]
            result = builder.insert_value(result, builder.call(fused, terms), p)
        return result

    return sums(sums, numbers, types.intp, lanes), generate


@_operation
def subtract(_typing: Any, left: Any, right: Any) -> Any:
    """left − right."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(*args)

    return left(left, right), generate


@_operation
def positive(_typing: Any, lanes: Any) -> Any:
    """max(0, lanes); NaN stays NaN."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = ir.Constant(_vector(lanes), None)
        return builder.select(builder.fcmp_ordered(">", zero, args[0]), zero, args[0])

    return lanes(lanes), generate


@inline
def scratch(size, dtype):
    """(size,) zeros that start a cache line."""
    room = np.zeros(size + LINE, dtype)
    first = (-room.ctypes.data % LINE) // room.itemsize
    return room[first : first + size]
