"""Python files that are not installed, loaded as they are now.

A file and its neighbours, the modules beside it, are loaded under a name that nothing else has, so
that two files, or two neighbours, may be called alike. A neighbour hides what is installed under
its name, but for the standard library.
"""

import builtins
import difflib
import hashlib
import sys
import traceback
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import attrs

from sched_core.errors import InputError, PluginLoadError

_PREFIX = "_schedfw_file_"
_KNOWN: dict[Path, "SourceFile"] = {}
_FOLDERS: dict[str, "_Folder"] = {}
"""By the name of the package that stands for a folder."""


@attrs.frozen
class SourceFile:
    """A file that was loaded."""

    module: ModuleType = attrs.field(repr=False)
    _folder: "_Folder" = attrs.field(repr=False)

    def digests(self, shown: str) -> dict[str, str]:
        """The sha256 of the file and of each neighbour that it imported, by path; that of the file
        is `shown`."""
        return {
            self._folder.shown(path, shown): digest
            for path, digest in sorted(self._folder.digests.items())
        }

    def is_current(self) -> bool:
        """Do the files still hold what was loaded?"""
        return all(
            path.is_file() and _digest(path.read_bytes()) == digest
            for path, digest in self._folder.digests.items()
        )

    def classes(self) -> dict[str, type]:
        """The classes of the file's own, by name."""
        found = vars(self.module).items()
        return {
            name: value
            for name, value in found
            if isinstance(value, type) and value.__module__ == self.module.__name__
        }


def load(shown: str) -> SourceFile:
    """The file at a path, loaded anew where it or a neighbour has changed.

    Raises InputError where it cannot be read, PluginLoadError with file and line where it raises.
    """
    path = _existing(shown)
    known = _KNOWN.get(path)
    if known is None or not known.is_current():
        known = _KNOWN[path] = _load(path, shown)
    return known


def _existing(shown: str) -> Path:
    path = Path(shown).expanduser()
    if path.is_file():
        return path.resolve()
    near = [other.name for other in path.parent.glob("*.py") if other.is_file()]
    close = difflib.get_close_matches(path.name, near, n=1)
    hint = f"; did you mean {str(path.with_name(close[0]))!r}?" if close else ""
    raise InputError(f"there is no such file{hint}", file=shown)


def _load(path: Path, shown: str) -> SourceFile:
    folder = _Folder(path, f"{_PREFIX}{len(_FOLDERS)}")
    folder.open()
    name = f"{folder.package}.{path.stem.replace('.', '_')}"
    spec = folder.spec(name, path)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        with redirect_stdout(sys.stderr):  # what a module prints is no part of our output
            assert spec.loader is not None
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # anything may happen in foreign code
        folder.close()
        raise _refusal(error, folder, shown) from error
    return SourceFile(module, folder)


def _refusal(error: BaseException, folder: "_Folder", shown: str) -> Exception:
    """Names the file and the line that the error came from, the file's own or a neighbour's."""
    if isinstance(error, OSError) and not folder.digests:
        return InputError(f"cannot be read: {error.strerror}", file=shown)
    walked = traceback.walk_tb(error.__traceback__)
    calls = [(frame.f_code.co_filename, line) for frame, line in walked]
    text = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        calls.append((error.filename, error.lineno or 1))
        text = error.msg
    own = [(Path(file), line) for file, line in calls if Path(file) in folder.digests]
    file, line = own[-1] if own else (folder.main, 1)
    place = folder.shown(file, shown)
    what = "it" if place == shown else shown
    return PluginLoadError(
        f"{place}, line {line}: {what} cannot be loaded: {type(error).__name__}: {text}"
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Folder:
    """Modules of one folder, as a package that one file is loaded into."""

    def __init__(self, main: Path, package: str) -> None:
        self.main, self.path, self.package = main, main.parent, package
        self.digests: dict[Path, str] = {}
        """Of all that was loaded."""

    def open(self) -> None:
        """Let modules of the package be found."""
        if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Finder())  # before what would load them as any other module
        _FOLDERS[self.package] = self
        stand_in = sys.modules[self.package] = ModuleType(self.package)
        stand_in.__path__ = []

    def close(self) -> None:
        """Forget them."""
        for name in [name for name in sys.modules if name.split(".")[0] == self.package]:
            del sys.modules[name]

    def shown(self, path: Path, main: str) -> str:
        """What a file is called where the main one is called `main`."""
        return main if path == self.main else str(Path(main).parent / path.relative_to(self.path))

    def find(self, *names: str) -> Path | None:
        """The file of a module below the folder."""
        place = self.path.joinpath(*names)
        choices = (place / "__init__.py", place.with_name(f"{place.name}.py"))
        return next((path for path in choices if path.is_file()), None)

    def spec(self, name: str, path: Path) -> ModuleSpec:
        """How to load a file as the module `name`."""
        below = [str(path.parent)] if path.name == "__init__.py" else None
        loader = _Loader(name, str(path), self)
        spec = spec_from_file_location(name, path, loader=loader, submodule_search_locations=below)
        assert spec is not None
        return spec

    def import_(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 # as `__import__` has it
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        """`__import__` of the folder's modules: a neighbour first."""
        top = name.partition(".")[0]
        if level or top in sys.stdlib_module_names or self.find(top) is None:
            return builtins.__import__(name, globals, locals, fromlist, level)
        own = f"{self.package}.{name}"
        if fromlist:
            return builtins.__import__(own, globals, locals, fromlist, 0)
        import_module(own)
        return sys.modules[f"{self.package}.{top}"]


class _Loader(SourceFileLoader):
    """Compiles the bytes whose digest it keeps, never a cache of them."""

    def __init__(self, name: str, path: str, folder: _Folder) -> None:
        super().__init__(name, path)
        self._folder = folder

    def get_code(self, fullname: str) -> CodeType:
        """Of the source as it is now."""
        content = self.get_data(self.path)
        self._folder.digests[Path(self.path)] = _digest(content)
        code: CodeType = compile(content, self.path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """With an `import` that sees the neighbours."""
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": self._folder.import_}
        super().exec_module(module)


class _Finder:
    """Finds neighbours under the name of their package."""

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        """As `importlib` asks for it."""
        package, *rest = name.split(".")
        folder = _FOLDERS.get(package)
        path = folder.find(*rest) if folder is not None and rest else None
        return None if folder is None or path is None else folder.spec(name, path)
