"""What the package offers can be had."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import detent


def test_every_public_name_resolves() -> None:
    for name in detent.__all__:
        assert getattr(detent, name) is not None
    assert len(set(detent.__all__)) == len(detent.__all__)


def test_the_lazy_names_are_the_public_ones() -> None:
    assert set(detent._HOMES) == set(detent.__all__) - {"__version__"}


def test_any_other_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = detent.no_such_name


def modules() -> list[str]:
    found = pkgutil.walk_packages(detent.__path__, "detent.")
    return [module.name for module in found if not module.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_every_module_can_be_imported_and_its_all_resolves(name: str) -> None:
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        assert hasattr(module, public)
