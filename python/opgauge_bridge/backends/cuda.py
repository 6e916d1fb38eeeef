# SPDX-License-Identifier: Apache-2.0
"""NVIDIA through torch.cuda."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import loan
from .torch_device import TorchDevice

# A forked process must not call the device; compiling does not.
FORK_COMPILE = True


def properties(device: Any) -> dict[str, Any]:
    """Facts that torch's device properties carry; what an older torch lacks is None."""
    uuid = getattr(device, "uuid", None)
    domain = getattr(device, "pci_domain_id", None)
    bus = getattr(device, "pci_bus_id", None)
    slot = getattr(device, "pci_device_id", None)
    pci = None
    if isinstance(bus, int) and isinstance(slot, int):
        pci = f"{domain or 0:04x}:{bus:02x}:{slot:02x}.0"
    return {
        "name": getattr(device, "name", None),
        "uuid": str(uuid) if uuid else None,
        "pci_id": pci,
        "memory_total_bytes": getattr(device, "total_memory", None),
    }


def describe() -> dict[str, Any]:
    import torch

    if getattr(torch.version, "hip", None):
        return {"backend": "rocm", "vendor": "AMD", "count": torch.cuda.device_count()}
    if not getattr(torch.version, "cuda", None):
        return {"problem": "this torch is built without CUDA"}
    facts: dict[str, Any] = {
        "backend": "cuda",
        "vendor": "NVIDIA",
        "count": torch.cuda.device_count(),
        "runtime": f"CUDA {torch.version.cuda}",
    }
    if facts["count"]:
        facts.update(properties(torch.cuda.get_device_properties(0)))
    return facts


def framework() -> Any:
    return loan.framework("cuda", "torch")


def in_use() -> str:
    return loan.in_use("cuda") or ("the driver is initialised" if _driver_initialised() else "")


def _driver_initialised() -> bool:
    """Also by others than torch. A library that is not loaded yet stays so."""
    not_initialised = 3
    try:
        library = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        return int(library.cuDeviceGetCount(ctypes.byref(ctypes.c_int()))) != not_initialised
    except (OSError, AttributeError):
        return False


class CudaDevice(TorchDevice):
    """torch.cuda with the driver's own memset and copy."""

    def __init__(self) -> None:
        import torch

        super().__init__(torch.cuda, "cuda")
        self._cuda = torch.cuda
        self._driver = _driver()

    def occupy_streams(self) -> None:
        """Once a process has had work on more than eight streams, an H200 starts the kernels of its
        graphs 0.18 us later, for good. All are used before anything is timed, so that no case
        depends on how many streams those before it used."""
        for stream in self.streams():
            with self._cuda.stream(stream):
                self._cuda._sleep(1)
        self.synchronize()

    def fill(self, buffer: Any, byte: int) -> None:
        if self._driver is None:
            super().fill(buffer, byte)
            return
        stream = self._cuda.current_stream().cuda_stream
        code = self._driver.cuMemsetD8Async(buffer.data_ptr(), byte, buffer.numel(), stream)
        if code != 0:
            raise RuntimeError(f"cuMemsetD8Async failed with {code}")

    def read(self, buffer: Any) -> bytes:
        if self._driver is None:
            return super().read(buffer)
        self.synchronize()
        target = ctypes.create_string_buffer(buffer.numel())
        code = self._driver.cuMemcpyDtoH_v2(target, buffer.data_ptr(), buffer.numel())
        if code != 0:
            raise RuntimeError(f"cuMemcpyDtoH failed with {code}")
        return target.raw


def _driver() -> Any:
    """The two driver calls above, or None where the library or one of them is missing."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
        memset, copy = library.cuMemsetD8Async, library.cuMemcpyDtoH_v2
    except (OSError, AttributeError):
        return None
    memset.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p]
    copy.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]
    return library


def device() -> TorchDevice:
    """The device that the timers measure on."""
    made = CudaDevice()
    made.occupy_streams()
    return made
