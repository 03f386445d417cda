"""Which commands check something."""

from __future__ import annotations

import pytest

from detent.surfaces.tui.folding.checking import is_check

CHECKS = """
pytest
pytest -q tests/unit
.venv/bin/python -m pytest tests -q
python -m unittest
cd web && npm test
npm run test -- --watch=false
pnpm lint
yarn build
cargo test --all
cargo clippy
go test ./...
go vet ./...
make check
make test 2>&1 | tail -5
just lint
./gradlew test
mvn verify
ruff check src
mypy --strict src
npx tsc --noEmit
npx eslint .
(cd a; tox)
dotnet build
black --check .
cmake --build build
""".strip().split("\n")
OTHERS = """
ls
cat pytest.ini
echo test
git commit -m "tests"
npm install
npm start
cargo run
make
make install
go run .
pip install pytest-cov
rm -rf build
vim tests/test_a.py
grep -rn ruffian .
curl https://x/checkout
""".strip().split("\n")


@pytest.mark.parametrize("command", CHECKS)
def test_a_check(command: str) -> None:
    assert is_check(command)


@pytest.mark.parametrize("command", OTHERS)
def test_no_check(command: str) -> None:
    assert not is_check(command)
