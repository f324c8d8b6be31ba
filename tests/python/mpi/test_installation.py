"""What is found out about MPIs from other programs' answers."""

import subprocess
from pathlib import Path

import pytest

from sibyl.mpi import installation
from sibyl.mpi.installation import library_of_program, linked_libraries, mapped_mpi

LDD = """\
\tlinux-vdso.so.1 (0x00007ffd2d5f6000)
\tlibmpi.so.40 => /home/me/My Projects/mpi (5)/lib/libmpi.so.40 (0x00007f2a5c000000)
\t/home/me/My Projects/lib/libown.so => /home/me/My Projects/lib/libown.so (0x00007f2a5b000000)
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f2a5bf20000)
\tlibgone.so.1 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f2a5c3d5000)
"""


def test_paths_with_blanks_are_read_from_ldd(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 0, LDD, "")

    monkeypatch.setattr(installation, "answer_of", answer)
    projects = Path("/home/me/My Projects")
    library = projects / "mpi (5)" / "lib" / "libmpi.so.40"
    assert linked_libraries(Path("app")) == {
        "libmpi.so.40": library,
        "libown.so": projects / "lib" / "libown.so",
        "libm.so.6": Path("/lib/x86_64-linux-gnu/libm.so.6"),
        "libgone.so.1": None,
    }
    assert library_of_program(Path("app")) == ("openmpi", library)


def test_paths_with_blanks_are_read_from_a_process_s_maps() -> None:
    begin = "7f2a5c000000-7f2a5c0ff000 r-xp 00000000 fe:01 1234          "
    library = "/home/me/My Projects/lib/libmpich.so.12.4.2"
    assert mapped_mpi(f"{begin}{library}\n") == ("mpich", Path(library))
    assert mapped_mpi(f"{begin}/usr/lib/libm.so.6\n") is None
    assert mapped_mpi(f"{begin}[heap]\n") is None
