"""Callbacks of the engine that call C functions without Python, compiled when they are needed.

A callback serves one model, and for all others it returns what the engine does without it. LLVM
compiles one for each kind of hook in a process, which lives as long as the process: another thread
may be in it.
"""

import ctypes
import struct
import time
from functools import cache
from importlib.util import find_spec
from string import Template
from typing import Any, NamedTuple

import numpy as np

_WORD, _INT, _LONG, _NUMBER = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_double
Report = ctypes.CFUNCTYPE(None, _LONG, _INT, _NUMBER)
"""Called with the index of a hook, a stage or an element, and a number that cannot be used."""


class HookCell(ctypes.Structure):
    """What an extension shares with its compiled hooks.

    Attributes:
        is_enabled: Whether they are called.
        spent: Time that they took [s]; they add to it.
    """

    _fields_ = (("is_enabled", _INT), ("spent", _NUMBER))


class HookEntry(ctypes.Structure):
    """A C function as a hook.

    Attributes:
        function: Its address.
        cell: Address of the cell of its extension.
        own: Bytes that are not zero for own elements; for arrays, `length` of them in each stage.
        present: Bytes that are not zero for the stages with own elements.
        array: The array that the hook writes.
        saved: Space for a copy of it.
        length: Number of its elements.
    """

    _fields_ = (
        ("function", _WORD),
        ("cell", _WORD),
        ("own", _WORD),
        ("present", _WORD),
        ("array", _WORD),
        ("saved", _WORD),
        ("length", _LONG),
    )


class Gate(ctypes.Structure):
    """The model that a compiled callback serves, and its hooks.

    Attributes:
        model: Address of the model; none while the callback serves no model.
        data: Address of the state that is stepped.
        busy: Address of the number that is not zero while a method or hook is called.
        slow: Address of the callback for other data of the model.
        report: Address of a `Report`.
        count: Number of hooks.
        entries: Address of their entries.
    """

    _fields_ = (
        ("model", _WORD),
        ("data", _WORD),
        ("busy", _WORD),
        ("slow", _WORD),
        ("report", _WORD),
        ("count", _LONG),
        ("entries", _WORD),
    )


class CompiledCallback(NamedTuple):
    """A callback, and the gate that it reads."""

    address: int
    gate: Gate


class _Shape(NamedTuple):
    """The signature of a kind of hooks in LLVM's language, without model and data."""

    result: str
    indices: tuple[str, ...] = ()
    without: str = ""


_SHAPES = {
    "control": _Shape("void"),
    "passive": _Shape("void"),
    "sensor": _Shape("void", ("%stage",)),
    "act_dyn": _Shape("double", ("%first",), "0.0"),
    "act_gain": _Shape("double", ("%first",), "1.0"),
    "act_bias": _Shape("double", ("%first",), "0.0"),
    "contact_filter": _Shape("i32", ("%first", "%second"), "0"),
}


@cache
def compiled_callback(kind: str, masks: tuple[int, int]) -> CompiledCallback | None:
    """Return the compiled callback of a kind; None for ``time``, which the engine gives no model.

    Without llvmlite there is none, and all hooks are called through Python.

    Args:
        kind: The kind of hook.
        masks: At which bytes of ``mjModel`` the addresses of contype and conaffinity are.
    """
    if kind not in _SHAPES or find_spec("llvmlite") is None:
        return None
    gate = Gate()
    return CompiledCallback(_compile(kind, _source(kind, ctypes.addressof(gate), masks)), gate)


_engines: list[Any] = []
"""They own the machine code."""


def _compile(kind: str, source: str) -> int:
    """Return the address of the machine code of a callback."""
    from llvmlite import binding  # takes 0.2 s

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_assembly(source)
    module.verify()
    target = binding.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    engine = binding.create_mcjit_compiler(module, target)
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(kind))


def _source(kind: str, gate: int, masks: tuple[int, int]) -> str:
    """Return the source of a callback in LLVM's language."""
    shape = _SHAPES[kind]
    arguments = ", ".join(("ptr %model", "ptr %data", *(f"i32 {it}" for it in shape.indices)))
    is_array = shape.result == "void"
    parts = {
        "kind": kind,
        "gate": gate,
        "clock": time.CLOCK_MONOTONIC,
        "result": shape.result,
        "arguments": arguments,
        "without": f"{shape.result} {shape.without}".strip(),
        "stage": shape.indices[0] if is_array and shape.indices else "0",
        "largest": _bits(1e150),
        "infinite": _bits(float("inf")),
        "masks": "",
        "is_own": "",
        "used": _USED if kind == "contact_filter" else "  br label %found",
        "number": "%wide" if shape.result == "i32" else "%value",
        "widened": "  %wide = sitofp i32 %value to double" if shape.result == "i32" else "",
        "slow": f"  call void %slow({arguments})\n  ret void",
    }
    if not is_array:
        parts["slow"] = (
            f"  %other.value = call {shape.result} %slow({arguments})\n"
            f"  ret {shape.result} %other.value"
        )
        parts["is_own"] = _OWN_PAIR if len(shape.indices) > 1 else _OWN_ONE
    if kind == "contact_filter":
        parts["masks"] = Template(_MASKS).substitute(types=masks[0], affinities=masks[1])
    body = _ARRAY if is_array else _RETURNED
    return Template(_FRAME).substitute(parts, body=Template(body).substitute(parts))


def _bits(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


_FRAME = """
%Cell = type { i32, double }
%Entry = type { ptr, ptr, ptr, ptr, ptr, ptr, i64 }
%Gate = type { ptr, ptr, ptr, ptr, ptr, i64, ptr }
declare i32 @clock_gettime(i32, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare double @llvm.fabs.f64(double)

define internal double @now() {
  %time = alloca { i64, i64 }
  call i32 @clock_gettime(i32 $clock, ptr %time)
  %part = getelementptr { i64, i64 }, ptr %time, i32 0, i32 1
  %seconds = load i64, ptr %time
  %nanoseconds = load i64, ptr %part
  %whole = sitofp i64 %seconds to double
  %rest = sitofp i64 %nanoseconds to double
  %fraction = fmul double %rest, 1.0e-9
  %sum = fadd double %whole, %fraction
  ret double %sum
}

define $result @$kind($arguments) {
  %gate = inttoptr i64 $gate to ptr
$masks
  %served = load atomic ptr, ptr %gate monotonic, align 8
  %is.served = icmp eq ptr %served, %model
  br i1 %is.served, label %mine, label %none
mine:
  %data.at = getelementptr %Gate, ptr %gate, i32 0, i32 1
  %stepped = load ptr, ptr %data.at
  %is.stepped = icmp eq ptr %stepped, %data
  br i1 %is.stepped, label %step, label %other
other:
  %slow.at = getelementptr %Gate, ptr %gate, i32 0, i32 3
  %slow = load ptr, ptr %slow.at
$slow
none:
  ret $without
step:
  %busy.at = getelementptr %Gate, ptr %gate, i32 0, i32 2
  %busy = load ptr, ptr %busy.at
  %state = load i32, ptr %busy
  %is.free = icmp eq i32 %state, 0
  br i1 %is.free, label %begin, label %none
begin:
  store i32 1, ptr %busy
  %report.at = getelementptr %Gate, ptr %gate, i32 0, i32 4
  %report = load ptr, ptr %report.at
  %count.at = getelementptr %Gate, ptr %gate, i32 0, i32 5
  %count = load i64, ptr %count.at
  %entries.at = getelementptr %Gate, ptr %gate, i32 0, i32 6
  %entries = load ptr, ptr %entries.at
  br label %loop
loop:
  %index = phi i64 [ 0, %begin ], [ %following, %next ]
  %following = add i64 %index, 1
  %is.left = icmp slt i64 %index, %count
  br i1 %is.left, label %hook, label %end
hook:
  %entry = getelementptr %Entry, ptr %entries, i64 %index
  %function = load ptr, ptr %entry
  %cell.at = getelementptr %Entry, ptr %entry, i32 0, i32 1
  %cell = load ptr, ptr %cell.at
  %own.at = getelementptr %Entry, ptr %entry, i32 0, i32 2
  %own = load ptr, ptr %own.at
  %enabled = load i32, ptr %cell
  %is.enabled = icmp ne i32 %enabled, 0
  br i1 %is.enabled, label %search, label %next
$body
timed:
  %ended = call double @now()
  %taken = fsub double %ended, %start
  %spent.at = getelementptr %Cell, ptr %cell, i32 0, i32 1
  %before = load double, ptr %spent.at
  %spent = fadd double %before, %taken
  store double %spent, ptr %spent.at
  br label %next
next:
  br label %loop
end:
  store i32 0, ptr %busy
  ret $without
}
"""
_ARRAY = """
search:
  %stage.wide = sext i32 $stage to i64
  %present.at = getelementptr %Entry, ptr %entry, i32 0, i32 3
  %present = load ptr, ptr %present.at
  %flag.at = getelementptr i8, ptr %present, i64 %stage.wide
  %flag = load i8, ptr %flag.at
  %is.present = icmp ne i8 %flag, 0
  br i1 %is.present, label %call, label %next
call:
  %start = call double @now()
  %array.at = getelementptr %Entry, ptr %entry, i32 0, i32 4
  %array = load ptr, ptr %array.at
  %saved.at = getelementptr %Entry, ptr %entry, i32 0, i32 5
  %saved = load ptr, ptr %saved.at
  %length.at = getelementptr %Entry, ptr %entry, i32 0, i32 6
  %length = load i64, ptr %length.at
  %bytes = mul i64 %length, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %saved, ptr %array, i64 %bytes, i1 false)
  call void %function($arguments)
  %row = mul i64 %stage.wide, %length
  %mask = getelementptr i8, ptr %own, i64 %row
  br label %check
check:
  %slot = phi i64 [ 0, %call ], [ %slot.next, %element ]
  %sum = phi double [ 0.0, %call ], [ %sum.next, %element ]
  %slot.next = add i64 %slot, 1
  %is.within = icmp slt i64 %slot, %length
  br i1 %is.within, label %element, label %checked
element:
  %value.at = getelementptr double, ptr %array, i64 %slot
  %value = load double, ptr %value.at
  %old.at = getelementptr double, ptr %saved, i64 %slot
  %old = load double, ptr %old.at
  %mine.at = getelementptr i8, ptr %mask, i64 %slot
  %mine.flag = load i8, ptr %mine.at
  %is.mine = icmp ne i8 %mine.flag, 0
  %kept = select i1 %is.mine, double %value, double %old
  store double %kept, ptr %value.at
  %square = fmul double %value, %value
  %counted = select i1 %is.mine, double %square, double 0.0
  %sum.next = fadd double %sum, %counted
  br label %check
checked:
  %is.finite = fcmp olt double %sum, $infinite
  br i1 %is.finite, label %timed, label %bad
bad:
  call void %report(i64 %index, i32 $stage, double 0.0)
  br label %timed
"""
_RETURNED = """
search:
$is_own
  br i1 %is.mine, label %call, label %next
call:
  %start = call double @now()
  %value = call $result %function($arguments)
$widened
  %size = call double @llvm.fabs.f64(double $number)
  %is.usable = fcmp olt double %size, $largest
  br i1 %is.usable, label %usable, label %bad
bad:
  call void %report(i64 %index, i32 %first, double $number)
  br label %timed
usable:
$used
found:
  %found.ended = call double @now()
  %found.taken = fsub double %found.ended, %start
  %found.spent.at = getelementptr %Cell, ptr %cell, i32 0, i32 1
  %found.before = load double, ptr %found.spent.at
  %found.spent = fadd double %found.before, %found.taken
  store double %found.spent, ptr %found.spent.at
  store i32 0, ptr %busy
  ret $result %value
"""
_OWN_ONE = """
  %first.at = getelementptr i8, ptr %own, i32 %first
  %flag = load i8, ptr %first.at
  %is.mine = icmp ne i8 %flag, 0
"""
_OWN_PAIR = """
  %first.at = getelementptr i8, ptr %own, i32 %first
  %first.flag = load i8, ptr %first.at
  %second.at = getelementptr i8, ptr %own, i32 %second
  %second.flag = load i8, ptr %second.at
  %flag = or i8 %first.flag, %second.flag
  %is.mine = icmp ne i8 %flag, 0
"""
_USED = """
  %is.discarded = icmp ne i32 %value, 0
  br i1 %is.discarded, label %found, label %timed
"""


_MASKS = """
  %types.at = getelementptr i8, ptr %model, i64 $types
  %types = load ptr, ptr %types.at
  %affinities.at = getelementptr i8, ptr %model, i64 $affinities
  %affinities = load ptr, ptr %affinities.at
  %type.first.at = getelementptr i32, ptr %types, i32 %first
  %type.first = load i32, ptr %type.first.at
  %type.second.at = getelementptr i32, ptr %types, i32 %second
  %type.second = load i32, ptr %type.second.at
  %affinity.first.at = getelementptr i32, ptr %affinities, i32 %first
  %affinity.first = load i32, ptr %affinity.first.at
  %affinity.second.at = getelementptr i32, ptr %affinities, i32 %second
  %affinity.second = load i32, ptr %affinity.second.at
  %forwards = and i32 %type.first, %affinity.second
  %backwards = and i32 %type.second, %affinity.first
  %either = or i32 %forwards, %backwards
  %may.touch = icmp ne i32 %either, 0
  br i1 %may.touch, label %masked, label %apart
apart:
  ret i32 1
masked:
"""


def bytes_of(indices: Any, length: int) -> np.ndarray:
    """Return an array of bytes that are 1 at indices, and else 0.  # (length,)"""
    flags = np.zeros(length, dtype=np.uint8)
    flags[indices] = 1
    return flags
