#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 KV Workbench authors
# SPDX-License-Identifier: Apache-2.0

"""Holds the source tree to its ground rules.

  check_layering.py               checks itself, then the tree (KVW_SOURCE_DIR, or the one this file lies in)
  check_layering.py --self-test   checks itself only: each rule must report a tree made to break it

The rules:
  - a folder of core/ includes only itself and the folders before it in FOLDERS;
  - core/ and app/kvw/ include no Qt header, and of other people's code only what works as headers alone;
  - app/kvw/ includes, of this tree, only core/ and itself;
  - nothing outside core/device/cuda/ includes from it;
  - every source, script and build file carries the two SPDX lines, with the licence of its folder.
"""

import os
import re
import sys
import tempfile
from pathlib import Path, PurePosixPath

FOLDERS = ("units model workload import plan engines estimate cache device serving evidence report worker").split()
CUDA = "device/cuda"
ROOMS = ("app", "core", "widgets", "resources", "tests", "packaging")
CODE = (".cpp", ".h", ".hpp", ".cu", ".cuh")
SPDX = (".cpp", ".h", ".hpp", ".cu", ".cuh", ".py", ".sh", ".txt", ".cmake")
# Plain text that is data: .reuse/dep5 says its licence.
DATA = ("resources/", "tests/data/")
GPL = ("widgets/", "app/workbench/", "tests/widgets/", "tests/bench/widgets/")

STANDARD = set(
    "algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes "
    "climits clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef "
    "cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format "
    "forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch "
    "limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges "
    "ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept "
    "stop_token streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex "
    "typeinfo unordered_map unordered_set utility valarray variant vector version".split()
)
POSIX = set(
    "aio assert cpuid ctype dirent dlfcn endian errno execinfo fcntl fenv float fnmatch ftw getopt glob grp "
    "immintrin inttypes langinfo libgen limits link locale malloc math netdb poll pthread pwd sched semaphore "
    "setjmp signal spawn stdarg stddef stdint stdio stdlib string strings syslog termios time ucontext unistd "
    "utime wchar wctype x86intrin".split()
)
POSIX_FOLDERS = ("sys/", "linux/", "netinet/", "arpa/", "net/", "asm/")
HEADER_ONLY = ("nlohmann/", "fmt/", "CLI/", "boost/")
# Parts of Boost, as of Debian 12's 1.81, that need a library at link time.
BOOST_COMPILED = (
    "chrono context contract coroutine coroutine2 fiber filesystem graph_parallel iostreams locale log mpi nowide "
    "program_options python regex serialization stacktrace test thread timer wave".split()
)
CUDA_HEADERS = re.compile(r"^(?:(?:cuda\w*|mma|nvml|cooperative_groups)\.h|(?:cub|cuda|thrust)/\S+)$")

INCLUDE = re.compile(r"^\s*#\s*(?:include|include_next|import)\b\s*(.*?)\s*$")
NAMED = re.compile(r'^(?:"([^"]+)"|<([^>]+)>)')
QT = re.compile(r"^(?:Q[A-Za-z]\w*(?:\.h|/\S+)?|q[a-z0-9_]+\.h)$")


class Tree:
    """One source tree and the problems found in it."""

    def __init__(self, root):
        self.root = Path(root)
        self.problems = []
        self.checked = 0

    def files(self):
        """Paths, relative to the root, of every file that a rule may apply to."""
        found = [p.name for p in self.root.iterdir() if p.is_file()]
        for room in ROOMS + (".ci",):
            for folder, folders, names in os.walk(self.root / room):
                folders[:] = sorted(f for f in folders if f not in ("__pycache__", "build"))
                found += [(Path(folder) / name).relative_to(self.root).as_posix() for name in names]
        return sorted(found)

    def report(self, path, line, text):
        self.problems.append(f"{path}:{line}: {text}")

    def check(self):
        for path in self.files():
            code = path.endswith(CODE)
            if not code and not path.endswith(SPDX) and path != ".ci/run":
                continue
            self.checked += 1
            lines = (self.root / path).read_text(encoding="utf-8", errors="replace").splitlines()
            if code or not path.startswith(DATA):
                self.check_spdx(path, lines)
            if code:
                self.check_place(path)
                for number, line in enumerate(lines, 1):
                    match = INCLUDE.match(line)
                    if match:
                        self.check_include(path, number, match.group(1))
        return self.problems

    def check_spdx(self, path, lines):
        head = "\n".join(lines[:8])
        if "SPDX-FileCopyrightText: " not in head:  # REUSE-IgnoreLine
            self.report(path, 1, "no SPDX-FileCopyrightText line in the first eight lines")
        licence = re.search(r"SPDX-License-Identifier: (\S+)", head)  # REUSE-IgnoreLine
        wanted = "GPL-3.0-or-later" if path.startswith(GPL) else "Apache-2.0"
        if not licence:
            self.report(path, 1, "no SPDX-License-Identifier line in the first eight lines")
        elif licence.group(1) != wanted:
            self.report(path, 1, f"licence is {licence.group(1)}; in this folder it must be {wanted}")

    def check_place(self, path):
        parts = path.split("/")
        if parts[0] == "core" and (len(parts) < 3 or parts[1] not in FOLDERS):
            self.report(path, 1, "lies in none of the folders of core/: " + " ".join(FOLDERS))

    def check_include(self, path, number, text):
        named = NAMED.match(text)
        below_the_line = path.startswith(("core/", "app/kvw/"))
        if not named:
            if below_the_line:
                self.report(path, number, f"#include {text}: name the header, so that the layers can be checked")
            return
        name = named.group(1) or named.group(2)
        target = self.in_core(path, name)
        if target and target.startswith(CUDA + "/") and not path.startswith(f"core/{CUDA}/"):
            self.report(path, number, f'"{name}": only core/{CUDA} itself may include from core/{CUDA}')
        if not below_the_line:
            return
        if QT.match(name):
            self.report(path, number, f"{name}: no Qt in core/ and app/kvw/")
        elif target:
            self.check_order(path, number, name, target)
        elif named.group(1) and self.beside(path, name):
            pass
        elif not self.is_header_only(path, name):
            self.report(path, number, f"{name}: neither of this layer nor a standard, POSIX or header-only header")

    def in_core(self, path, name):
        """The header as a path under core/, or None when it is not one of core's."""
        if name.split("/")[0] in FOLDERS:
            return os.path.normpath(name)
        beside = self.beside(path, name)
        return beside[len("core/"):] if beside and beside.startswith("core/") else None

    def beside(self, path, name):
        """The header as a path under the root when it stands by the including file, in a room that file may use."""
        joined = os.path.normpath((PurePosixPath(path).parent / name).as_posix())
        rooms = ("",)
        if path.startswith("core/"):
            rooms = ("core/",)
        elif path.startswith("app/kvw/"):
            rooms = ("core/", "app/kvw/")
        return joined if joined.startswith(rooms) and (self.root / joined).is_file() else None

    def check_order(self, path, number, name, target):
        if not path.startswith("core/"):
            return
        own, used = path.split("/")[1], target.split("/")[0]
        if own in FOLDERS and used in FOLDERS and FOLDERS.index(used) > FOLDERS.index(own):
            self.report(path, number, f'"{name}": {own}/ may not include {used}/, which comes after it')

    @staticmethod
    def is_header_only(path, name):
        if name in STANDARD or name == "xxhash.h" or name.startswith(POSIX_FOLDERS):
            return True
        if name.endswith(".h") and name[:-2] in POSIX:
            return True
        if name.startswith("boost/"):
            return re.split(r"[/.]", name)[1] not in BOOST_COMPILED
        if name.startswith(HEADER_ONLY):
            return True
        return path.startswith(f"core/{CUDA}/") and bool(CUDA_HEADERS.match(name))


def spdx(licence="Apache-2.0", mark="//"):
    # REUSE-IgnoreStart
    return f"{mark} SPDX-FileCopyrightText: 2026 KV Workbench authors\n{mark} SPDX-License-Identifier: {licence}\n"
    # REUSE-IgnoreEnd


def clean_tree():
    """A small tree that keeps every rule: path -> text."""
    cpp = spdx() + "#pragma once\n"
    return {
        "CMakeLists.txt": spdx(mark="#"),
        "core/units/bytes.h": cpp + "#include <cstdint>\n#include <sys/mman.h>\n#include <unistd.h>\n",
        "core/units/bytes.cpp": cpp + '#include "units/bytes.h"\n#include "bytes.h"\n#include <fmt/format.h>\n',
        "core/plan/plan.cpp": cpp + '#include "units/bytes.h"\n#include <nlohmann/json.hpp>\n#include <xxhash.h>\n'
                                    "#include <boost/container_hash/hash.hpp>\n",
        "core/device/host.cpp": cpp + "// #include <QString>\n",
        "core/device/cuda/kernels.cuh": cpp + "#include <cuda_runtime.h>\n",
        "core/device/cuda/device.cu": cpp + '#include "device/cuda/kernels.cuh"\n#include <cub/cub.cuh>\n',
        "app/kvw/options.h": cpp,
        "app/kvw/main.cpp": cpp + '#include "options.h"\n#include "plan/plan.h"\n#include <CLI/CLI.hpp>\n',
        "widgets/view.cpp": spdx("GPL-3.0-or-later") + '#include <QWidget>\n#include "plan/plan.h"\n',
        "tests/units/tst_bytes.cpp": cpp + "#include <QTest>\n",
        "tests/data/golden.txt": "1 2 3\n",
        ".ci/run": spdx(mark="#"),
    }


# What to add to a file of the clean tree (or the whole text of a new file), and what must then be reported.
VIOLATIONS = [
    ("core/units/bytes.cpp", '#include "plan/plan.h"\n', "units/ may not include plan/"),
    ("core/units/bytes.cpp", '#  include "../plan/plan.cpp"\n', "units/ may not include plan/"),
    ("core/plan/plan.cpp", "#include <engines/rules.h>\n", "plan/ may not include engines/"),
    ("core/units/bytes.h", "#include <QString>\n", "no Qt"),
    ("core/units/bytes.h", '#include "QtCore/QString"\n', "no Qt"),
    ("core/units/bytes.h", "#include <qglobal.h>\n", "no Qt"),
    ("app/kvw/main.cpp", "#include <QCoreApplication>\n", "no Qt"),
    ("app/kvw/main.cpp", '#include "../../widgets/view.cpp"\n', "neither of this layer"),
    ("core/plan/plan.cpp", "#include <openssl/sha.h>\n", "neither of this layer"),
    ("core/plan/plan.cpp", "#include <boost/filesystem.hpp>\n", "neither of this layer"),
    ("core/plan/plan.cpp", "#include <cuda_runtime.h>\n", "neither of this layer"),
    ("core/plan/plan.cpp", '#include "nowhere.h"\n', "neither of this layer"),
    ("core/plan/plan.cpp", "#include PLAN_HEADER\n", "name the header"),
    ("core/device/host.cpp", '#include "device/cuda/kernels.cuh"\n', "only core/device/cuda itself"),
    ("core/device/host.cpp", '#include "cuda/kernels.cuh"\n', "only core/device/cuda itself"),
    ("app/kvw/main.cpp", '#include "device/cuda/kernels.cuh"\n', "only core/device/cuda itself"),
    ("widgets/view.cpp", '#include "device/cuda/kernels.cuh"\n', "only core/device/cuda itself"),
    ("core/misc/thing.h", spdx(), "lies in none of the folders"),
    ("core/thing.h", spdx(), "lies in none of the folders"),
    ("core/worker/bare.h", "// nothing\n", "no SPDX-License-Identifier"),
    ("core/worker/bare.cpp", spdx().split("\n", 1)[1], "no SPDX-FileCopyrightText"),
    ("core/device/cuda/bare.cu", "// nothing\n", "no SPDX-License-Identifier"),
    ("tests/scripts/check_it.py", "print()\n", "no SPDX-License-Identifier"),
    ("packaging/run.sh", "true\n", "no SPDX-License-Identifier"),
    ("packaging/pack.cmake", "\n", "no SPDX-License-Identifier"),
    ("app/CMakeLists.txt", "\n", "no SPDX-License-Identifier"),
    ("core/worker/gpl.h", spdx("GPL-3.0-or-later"), "must be Apache-2.0"),
    ("widgets/apache.h", spdx(), "must be GPL-3.0-or-later"),
]


def problems_of(files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return Tree(folder).check()


def self_test():
    """Problems with this check itself: a clean tree reported, or a violation not reported where it was made."""
    wrong = [f"self-test: the clean tree was reported: {problem}" for problem in problems_of(clean_tree())]
    for path, text, expected in VIOLATIONS:
        files = clean_tree()
        files[path] = files.get(path, "") + text
        found = problems_of(files)
        if not any(problem.startswith(path + ":") and expected in problem for problem in found):
            wrong.append(f"self-test: {path} with {text.strip()!r} was not reported as {expected!r}, but: {found}")
        wrong += [f"self-test: {path}: also reported: {p}" for p in found if not p.startswith(path + ":")]
    return wrong


def main(arguments):
    if arguments not in ([], ["--self-test"]):
        print(__doc__)
        return 2
    problems = self_test()
    summary = f"self-test: {len(VIOLATIONS)} violations tried"
    if not arguments:
        root = os.environ.get("KVW_SOURCE_DIR") or Path(__file__).resolve().parents[2]
        tree = Tree(root)
        problems += tree.check()
        summary += f"; tree: {tree.checked} files checked"
        if tree.checked < 5:
            problems.append(f"{root}: only {tree.checked} files found; is this the source tree?")
    for problem in problems:
        print(problem)
    print(f"{summary}; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
