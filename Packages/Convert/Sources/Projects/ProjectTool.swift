/// A tool that builds and tests, recognised by its files.
struct ProjectTool {
    struct Step {
        let id: String
        let script: String
        let needs: [String]
        let isManual: Bool

        init(_ id: String, _ script: String, needs: [String] = [], isManual: Bool = false) {
            self.id = id
            self.script = script
            self.needs = needs
            self.isManual = isManual
        }
    }

    /// The id of its group, if a folder has several tools.
    let id: String
    let files: [String]
    let steps: [Step]

    func steps(comment: String?) -> [StepDraft] {
        steps.enumerated().map { index, step in
            var draft = StepDraft(step.id, .script(step.script))
            draft.needs = step.needs
            draft.isManual = step.isManual
            if id == "make" { draft.sharesJobs() }
            if index == 0, let comment { draft.comments = [comment] }
            return draft
        }
    }

    /// The tools whose commands are the same everywhere.
    static let known: [ProjectTool] = [
        ProjectTool(
            id: "swift", files: ["Package.swift"],
            steps: [Step("build", "swift build"), Step("test", "swift test", needs: ["build"])]),
        ProjectTool(
            id: "rust", files: ["Cargo.toml"],
            steps: [
                Step("format", "cargo fmt --check"), Step("build", "cargo build"),
                Step("lint", "cargo clippy", needs: ["build"]), Step("test", "cargo test", needs: ["build"]),
            ]),
        ProjectTool(
            id: "go", files: ["go.mod"],
            steps: [
                Step("build", "go build ./..."), Step("vet", "go vet ./..."),
                Step("test", "go test ./...", needs: ["build"]),
            ]),
        ProjectTool(
            id: "cmake", files: ["CMakeLists.txt"],
            steps: [
                Step("configure", "cmake -S . -B build"), Step("build", "cmake --build build", needs: ["configure"]),
                Step("test", "ctest --test-dir build --output-on-failure", needs: ["build"]),
            ]),
        ProjectTool(
            id: "meson", files: ["meson.build"],
            steps: [
                Step("configure", "test -d build || meson setup build"),
                Step("build", "meson compile -C build", needs: ["configure"]),
                Step("test", "meson test -C build", needs: ["build"]),
            ]),
        ProjectTool(
            id: "gradle", files: ["build.gradle", "build.gradle.kts"],
            steps: [Step("build", "./gradlew assemble"), Step("test", "./gradlew check", needs: ["build"])]),
        ProjectTool(
            id: "maven", files: ["pom.xml"],
            steps: [Step("build", "mvn -B compile"), Step("test", "mvn -B test", needs: ["build"])]),
        ProjectTool(
            id: "elixir", files: ["mix.exs"],
            steps: [
                Step("install", "mix deps.get"), Step("build", "mix compile", needs: ["install"]),
                Step("test", "mix test", needs: ["build"]),
            ]),
        ProjectTool(
            id: "ruby", files: ["Gemfile"],
            steps: [Step("install", "bundle install"), Step("test", "bundle exec rake test", needs: ["install"])]),
        ProjectTool(
            id: "php", files: ["composer.json"],
            steps: [Step("install", "composer install"), Step("test", "composer test", needs: ["install"])]),
        ProjectTool(
            id: "zig", files: ["build.zig"],
            steps: [Step("build", "zig build"), Step("test", "zig build test", needs: ["build"])]),
        ProjectTool(
            id: "haskell", files: ["cabal.project", "stack.yaml"],
            steps: [Step("build", "cabal build all"), Step("test", "cabal test all", needs: ["build"])]),
        ProjectTool(
            id: "ocaml", files: ["dune-project"],
            steps: [Step("build", "dune build"), Step("test", "dune test", needs: ["build"])]),
    ]

    /// Scripts of `package.json` that have the same meaning in most projects.
    static let usualScripts: Set<String> = [
        "build", "test", "test:unit", "test:e2e", "lint", "typecheck", "type-check", "format", "format:check", "check",
        "dev", "start", "serve", "watch", "clean",
    ]
}
