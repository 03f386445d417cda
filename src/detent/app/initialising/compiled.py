"""Rust, Go, C and C++, the JVM and their kin: build systems whose commands are always the same."""

import re
from collections.abc import Iterator

from detent.app.initialising.cleaning import plain
from detent.app.initialising.record import Command, Findings, Purpose
from detent.app.initialising.tree import Tree, table

Commands = tuple[tuple[Purpose, str], ...]


def look_rust(tree: Tree) -> Findings:
    cargo = tree.toml("Cargo.toml")
    if not cargo:
        return Findings()
    package = table(cargo, "package")
    commands: Commands = (
        ("build", "cargo build"),
        ("test", "cargo test"),
        ("one test", "cargo test NAME"),
        ("lint", "cargo clippy --all-targets"),
        ("format", "cargo fmt"),
    )
    if tree.has("src/main.rs"):
        commands = (*commands, ("run", "cargo run"))
    said = []
    if edition := plain(package.get("edition"), 10):
        said.append(f"Rust edition {edition}")
    if "workspace" in cargo:
        said.append("one repository of several crates (a workspace)")
    width = (tree.toml("rustfmt.toml") or tree.toml(".rustfmt.toml")).get("max_width")
    if isinstance(width, int):
        said.append(f"Rust is formatted with rustfmt, lines of at most {width} characters")
    name, about = plain(package.get("name"), 60), plain(package.get("description"), 200)
    return Findings(_from("Cargo.toml", commands), tuple(said), name, about)


def look_go(tree: Tree) -> Findings:
    text = tree.text("go.mod")
    if not text:
        return Findings()
    module = re.search(r"^module[ \t]+(\S+)", text, re.MULTILINE)
    version = re.search(r"^go[ \t]+([\d.]+)", text, re.MULTILINE)
    commands: Commands = (
        ("build", "go build ./..."),
        ("test", "go test ./..."),
        ("one test", "go test ./PACKAGE -run '^TestNAME$'"),
        ("lint", "go vet ./..."),
        ("format", "gofmt -w ."),
    )
    found = list(_from("go.mod", commands))
    if lint := tree.first(".golangci.yml", ".golangci.yaml", ".golangci.toml"):
        found.append(Command("lint", "golangci-lint run", lint))
    said = (f"Go {version[1]}",) if version else ()
    return Findings(tuple(found), said, plain(module[1], 80) if module else "")


def look_c(tree: Tree) -> Findings:
    commands: list[Command] = []
    text = tree.text("CMakeLists.txt")
    if text:
        known: Commands = (("setup", "cmake -B build"), ("build", "cmake --build build"))
        if re.search(r"\b(enable_testing|add_test|include\s*\(\s*CTest)", text, re.IGNORECASE):
            known += (
                ("test", "ctest --test-dir build --output-on-failure"),
                ("one test", "ctest --test-dir build -R NAME"),
            )
        commands += _from("CMakeLists.txt", known)
    if tree.has("meson.build"):
        commands += _from(
            "meson.build",
            (
                ("setup", "meson setup build"),
                ("build", "meson compile -C build"),
                ("test", "meson test -C build"),
                ("one test", "meson test -C build NAME"),
            ),
        )
    said = ("C and C++ are formatted with clang-format",) if tree.has(".clang-format") else ()
    return Findings(tuple(commands), said)


def look_jvm(tree: Tree) -> Findings:
    commands: list[Command] = []
    if gradle := tree.first("build.gradle.kts", "build.gradle"):
        run = "./gradlew" if tree.has("gradlew") else "gradle"
        commands += _from(
            gradle,
            (
                ("build", f"{run} build"),
                ("test", f"{run} test"),
                ("one test", f"{run} test --tests 'CLASS.METHOD'"),
            ),
        )
    if tree.has("pom.xml"):
        run = "./mvnw" if tree.has("mvnw") else "mvn"
        commands += _from(
            "pom.xml",
            (
                ("build", f"{run} package"),
                ("test", f"{run} test"),
                ("one test", f"{run} test -Dtest='CLASS#METHOD'"),
            ),
        )
    return Findings(tuple(commands))


def look_others(tree: Tree) -> Findings:
    return Findings(tuple(_others(tree)))


def _others(tree: Tree) -> Iterator[Command]:
    for ending in (".sln", ".csproj", ".fsproj"):
        if dotnet := next((name for name in tree.top() if name.endswith(ending)), ""):
            known: Commands = (
                ("build", "dotnet build"),
                ("test", "dotnet test"),
                ("one test", "dotnet test --filter NAME"),
            )
            yield from _from(dotnet, known)
            break
    if tree.has("Gemfile"):
        yield Command("setup", "bundle install", "Gemfile")
        if tree.has(".rspec", "spec/spec_helper.rb"):
            yield Command("test", "bundle exec rspec", "Gemfile")
            yield Command("one test", "bundle exec rspec PATH:LINE", "Gemfile")
        elif tree.has("Rakefile"):
            yield Command("test", "bundle exec rake", "Rakefile")
    if tree.has("mix.exs"):
        yield Command("setup", "mix deps.get", "mix.exs")
        yield Command("test", "mix test", "mix.exs")
        yield Command("one test", "mix test PATH:LINE", "mix.exs")
        yield Command("format", "mix format", "mix.exs")
    if tree.has("composer.json"):
        yield Command("setup", "composer install", "composer.json")
    if tree.has("phpunit.xml", "phpunit.xml.dist"):
        yield Command("test", "vendor/bin/phpunit", "composer.json")
        yield Command("one test", "vendor/bin/phpunit --filter NAME", "composer.json")
    if tree.has("Package.swift"):
        yield Command("build", "swift build", "Package.swift")
        yield Command("test", "swift test", "Package.swift")
        yield Command("one test", "swift test --filter NAME", "Package.swift")


def _from(source: str, commands: Commands) -> tuple[Command, ...]:
    return tuple(Command(purpose, text, source) for purpose, text in commands)
