#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes entry_points.def: every entry point that a toolkit's cuda.h declares, with what it does.

  entry_points.py CUDA_INCLUDE_FOLDER > entry_points.def

A name that no row below decides is an error: new functions are to be looked at, not guessed at.
"""

import os
import re
import subprocess
import sys

# The first row that matches the beginning of a name decides; suffixes (_v2, _ptds, _ptsz) are cut off.
CLASSES = (
    ("SHARE", r"cuIpc(Get|Open)MemHandle|cuMem(Pool)?(Export|Import)|cuImportExternalMemory|"
              r"cuMemGetHandleForAddressRange|cuGraphics(MapResources|ResourceGetMapped)|cuMulticastBind"),
    # What only asks, however it is called.
    ("OTHER", r"cu\w+Get(?!Mapped|Export|Proc)\w*"),
    ("MOVE", r"cuMem(cpy|set|Prefetch|Discard|BatchDecompress)|cuStreamWriteValue|cuStreamBatchMemOp|"
             r"cuCheckpointProcess(Checkpoint|Restore)"),
    ("ALLOCATE", r"cuMem(Alloc|Free|Create|Release|HostAlloc)|cuMemPool(Create|Destroy|TrimTo)|"
                 r"cuArray(3D)?(Create|Destroy)|cuMipmappedArray(Create|Destroy)|cuDeviceGraphMemTrim|"
                 r"cuMulticastCreate"),
    ("MAP", r"cuMem(Map|Unmap|SetAccess|Address|HostRegister|HostUnregister)|"
            r"cuMemPoolSetAccess|cuIpc(Open|Close)|"
            r"cuDestroyExternalMemory|cuExternalMemory|cuMulticast|cuCtx(Enable|Disable)Peer|"
            r"cuGraphicsUnmap|cuStreamAttachMem|cuMemAdvise|"
            r"cuMemRetainAllocationHandle"),
    ("LAUNCH", r"cuLaunch|cuGraphLaunch"),
    ("WAIT", r"cu(Ctx|Stream|Event)Synchronize|cuStreamWaitValue|cuWaitExternal|cuSignalExternal|"
             r"cuFlushGPUDirectRDMAWrites|cuStreamAddCallback"),
    ("LOAD", r"cuModule(Load|Unload)|cuLibrary(Load|Unload)"),
    ("GRAPH", r"cuGraphInstantiate|cuGraphUpload|cuGraphNodeSetEnabled|cuGraphExec(?!\w*(Host|Event|Semaph))"),
    ("OTHER", r"cu(Init|Ctx|Device|DevResource|DevSm|GreenCtx|Driver|Event|Func|Kernel|Library|Link|Logs|"
              r"Module|Occupancy|ParamSet|Pointer|Profiler|Stream|SurfObject|SurfRef|TensorMap|TexObject|"
              r"TexRef|Thread|UserObject|Coredump|CheckpointProcess|Graph|Graphics|Array|Get|Ipc|"
              r"MemPool|MemSetMemPool|Import|Destroy)"),
)


def declared(include):
    """What the headers of the driver API declare, in all versions and variants."""
    names = set()
    for header in ("cuda.h", "cudaProfiler.h"):
        if not os.path.exists(os.path.join(include, header)):
            continue
        text = subprocess.run(
            [os.environ.get("CC", "cc"), "-E", "-P", "-x", "c", "-D__CUDA_API_VERSION_INTERNAL",
             f"-I{include}", "-"], input=f"#include <{header}>\n", text=True, check=True,
            capture_output=True).stdout
        names.update(re.findall(r"\bCUresult\s+(cu[A-Z]\w+)\s*\(", text))
    return sorted(names)


def base(name):
    return re.sub(r"(_v\d+|_pt[ds][sz])+$", "", name)


def class_of(name):
    for kind, pattern in CLASSES:
        if re.match(pattern, base(name)):
            return kind
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    names = declared(sys.argv[1])
    undecided = [name for name in names if class_of(name) is None]
    if not names or undecided:
        sys.exit("no class: " + (" ".join(undecided) or "cuda.h declares nothing"))
    print("""/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every entry point of the driver API of CUDA 13.0, with what it does to memory; sorted by name. Made
 * by entry_points.py from cuda.h:  GMT_ENTRY_POINT(name, class)
 */""")
    # In the order of strcmp, by which they are searched for.
    for name in names:
        print(f"GMT_ENTRY_POINT({name}, {class_of(name)})")


if __name__ == "__main__":
    main()
