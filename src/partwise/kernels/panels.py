"""Panels: rows of 16, 32 or 64 numbers that a kernel adds up, a whole row in vector registers at a time.

Numba turns loops over arrays into SIMD, but sums kept in an array go through memory at every step; a kernel that adds
up many short rows is held up by just that. Unlike `lanes`, whose width is the machine's, a row is as wide as the kernel
says. Every number sees the same operations in the same order whatever the width, and products are added fused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from partwise.kernels.lanes import LINE


class Row(types.Type):
    """Numba's name for `count` numbers side by side."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype = dtype
        self.count = count
        super().__init__(name=f"Row({dtype}, {count})")


@register_model(Row)
class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, of: Row) -> None:
        number = ir.FloatType() if of.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, of, ir.VectorType(number, of.count))


def _instruction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Written in LLVM's terms below; its constant arguments reach the typing as constants."""
    return intrinsic(prefer_literal=True)(function)


@_instruction
def zeros(typing: Any, array: Any, count: Any) -> Any:
    """A row of `count` (a constant) zeros of the array's kind."""
    kind = Row(array.dtype, count.literal_value)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(context.get_value_type(kind), None)

    return kind(array, count), build


@_instruction
def load(typing: Any, panel: Any, row: Any, count: Any) -> Any:
    """panel[row], of a C-ordered panel (r, count); count must be a constant."""
    kind = Row(panel.dtype, count.literal_value)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _row_pointer(context, builder, signature.args, args, kind)
        return builder.load(place, align=panel.dtype.bitwidth // 8)

    return kind(panel, row, count), build


@_instruction
def store(typing: Any, panel: Any, row: Any, numbers: Any) -> Any:
    """panel[row] = numbers."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _row_pointer(context, builder, signature.args, args, numbers)
        builder.store(args[2], place, align=panel.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(panel, row, numbers), build


@_instruction
def prefetch(typing: Any, panel: Any, row: Any, count: Any) -> Any:
    """Bring panel[row] into the first cache meanwhile; count must be a constant."""
    kind = Row(panel.dtype, count.literal_value)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, address = ir.IntType(32), ir.IntType(8).as_pointer()
        shape = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        hint = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        start = builder.bitcast(_row_pointer(context, builder, signature.args, args, kind), address)
        for line in range(0, kind.count * panel.dtype.bitwidth // 8, LINE):
            builder.call(hint, [builder.gep(start, [number(line)]), number(0), number(3), number(1)])  # read, L1, data
        return context.get_dummy_value()

    return types.void(panel, row, count), build


@_instruction
def add_multiple(typing: Any, sums: Any, scalar: Any, numbers: Any) -> Any:
    """sums + scalar · numbers, fused where the processor can."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(sums)
        anything = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(anything, args[1], ir.IntType(32)(0))
        all_alike = ir.Constant(ir.VectorType(ir.IntType(32), sums.count), [0] * sums.count)
        spread = builder.shuffle_vector(first, anything, all_alike)
        name = f"llvm.fmuladd.v{sums.count}f{sums.dtype.bitwidth}"
        fused = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)
        return builder.call(fused, [spread, args[2], args[0]])

    return sums(sums, sums.dtype, numbers), build


@_instruction
def dot(typing: Any, left: Any, right: Any) -> Any:
    """Σ left · right: products are added half to half, so the order depends on the count alone, a power of two."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums, count = builder.fmul(*args), left.count
        while count > 1:
            count //= 2
            halves = [
                ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(at, at + count))) for at in (0, count)
            ]
            sums = builder.fadd(*(builder.shuffle_vector(sums, sums, half) for half in halves))
        return builder.extract_element(sums, ir.IntType(32)(0))

    return left.dtype(left, right), build


def _row_pointer(context: Any, builder: Any, kinds: Any, args: Any, kind: Row) -> Any:
    """Where row args[1] of panel args[0] begins, as a pointer to the whole row."""
    panel = context.make_array(kinds[0])(context, builder, args[0])
    row = context.cast(builder, args[1], kinds[1], types.intp)
    width = builder.extract_value(panel.shape, 1)
    start = builder.gep(panel.data, [builder.mul(row, width)])
    return builder.bitcast(start, ir.PointerType(context.get_value_type(kind)))
