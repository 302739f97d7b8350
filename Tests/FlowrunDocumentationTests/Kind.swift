import FlowrunTestSupport
import Foundation
import Testing

/// A file as people have them in other tools, beside the same thing for flowrun, in `Kinds`.
struct Kind: Sendable, CustomTestStringConvertible {
    /// One command line and the steps that it starts.
    struct Run: Sendable {
        /// Without `flowrun`.
        let words: String
        /// Copies as `id[copy]`, in any order.
        let started: String
        var exit: Int32 = 0
    }

    /// The folder's name.
    let name: String
    /// The original in the folder.
    let original: String
    /// What the table on the page calls it.
    let title: String
    /// Programs that do nothing but note how they were called.
    var programs: [String] = []
    /// Files that have to be there; the text of a program in the folder is a script.
    var files: [String: String] = [:]
    let runs: [Run]
    /// Some of the calls that the first run makes, as `program arguments`.
    var calls: [String] = []

    var testDescription: String { name }
    var folder: String { "Tests/FlowrunDocumentationTests/Kinds/\(name)" }

    /// Lines with something on them, comments left out.
    static func count(_ path: String) throws -> Int {
        try PackageDocument(path).lines.count { line in
            let text = line.drop { $0 == " " || $0 == "\t" }
            return !text.isEmpty && !text.hasPrefix("#") || text.hasPrefix("#!")
        }
    }

    /// A folder with the file and all that it calls.
    func makeFolder() throws -> FlowrunTest {
        let test = try FlowrunTest(files: files.filter { !programs.contains($0.key) })
        try test.write(PackageDocument("\(folder)/flowrun.yml").text, to: "flowrun.yml")
        let note = #"echo "${0##*/} $*" >> "$CALLS""#
        for program in programs {
            let path = program.contains("/") ? program : "bin/\(program)"
            try test.write("#!/bin/bash\n\(note)\n\(files[program] ?? "")\n", to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: test.path(path))
        }
        return test
    }
}

extension Kind {
    private static let rows = "name,url\nnorth,http://n\nsouth,http://s\n"

    static let all = [
        Kind(
            name: "make-c", original: "Makefile", title: "a C program, 20 targets of make",
            programs: ["cc", "clang-tidy", "clang-format", "tests/run", "docs/make"],
            runs: [
                Run(
                    words: "",
                    started: "build compile[main] compile[table] compile[words] compile[output] link check[unit] "
                        + "check[sample] check[memory]"),
                Run(words: "lint docs", started: "lint build docs"), Run(words: "clean", started: "clean"),
                Run(words: "bench --param files=main", started: "build compile[main] link bench"),
            ], calls: ["cc -c src/table.c -o build/table.o", "run sample build/words"]),
        Kind(
            name: "make-go", original: "Makefile", title: "a Go service with make",
            programs: ["git", "go", "docker", "bin/service"],
            files: ["git": "echo v1.2", "go": "[ \"$1\" != list ] || printf 'a\\nb\\n'"],
            runs: [
                Run(words: "", started: "build"), Run(words: "push", started: "build vet test image push"),
                Run(words: "serve -- --port 80", started: "build serve"),
            ], calls: ["go build -ldflags -X main.version=v1.2 -o bin/service ."]),
        Kind(
            name: "make-latex", original: "Makefile", title: "a thesis with make and patterns",
            programs: ["pdflatex", "biber", "dot", "xdg-open"],
            files: ["figures/a.dot": "", "figures/b c.dot": ""],
            runs: [
                Run(words: "", started: "figures[figures/a.dot] figures[1] references thesis"),
                Run(words: "clean", started: "clean"),
            ], calls: ["dot -Tpdf figures/b c.dot -o figures/b c.pdf", "biber thesis"]),
        Kind(
            name: "task-includes", original: "Taskfile.yml", title: "a Taskfile with includes and preconditions",
            programs: ["npm", "./ship"], files: ["web/package.json": "", "api/package.json": "", "credentials": ""],
            runs: [
                Run(words: "", started: "web.install web.build api.install api.build"),
                Run(
                    words: "deploy --param to=prod",
                    started: "web.install web.build web.test api.install api.build api.test credentials deploy"),
            ], calls: ["npm run build"]),
        Kind(
            name: "task-python", original: "Taskfile.yml", title: "a Python package with task",
            programs: [
                ".venv/bin/pip", ".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/pytest", ".venv/bin/python", "git",
                "python3.10", "python3.11", "python3.12",
            ], files: ["git": "echo a.py", ".venv/bin/mypy": "exit 1"],
            runs: [
                Run(words: "", started: "venv lint test"), Run(words: "test -- -k x", started: "venv lint test"),
                Run(words: "matrix", started: "matrix[3.10] matrix[3.11] matrix[3.12]"),
                Run(words: "release", started: "venv lint types test release"),
            ], calls: ["ruff check a.py"]),
        Kind(
            name: "just-recipes", original: "justfile", title: "a justfile with arguments of recipes",
            programs: ["cargo", "git"],
            runs: [
                Run(words: "", started: "build"), Run(words: "test -- one two", started: "build test"),
                Run(words: "new --param name=words --param kind=bin", started: "new"),
                Run(words: "publish --param version=1.2", started: "build test tag publish"),
                Run(words: "report", started: "build test report"), Run(words: "watch -- -x", started: "tools watch"),
            ], calls: ["cargo build --profile debug"]),
        Kind(
            name: "just-deploy", original: "justfile", title: "a deployment with a way back, in just",
            programs: ["terraform", "./smoke", "./rollback"], files: ["./smoke": "[ \"$1\" = staging ]"],
            runs: [
                Run(words: "", started: "check plan"),
                Run(words: "apply", started: "check plan apply.change apply.smoke"),
                Run(words: "destroy", started: "check destroy"),
            ], calls: ["terraform plan -out plan.staging"]),
        Kind(
            name: "github-matrix", original: "ci.yml", title: "a matrix on GitHub", programs: ["cargo"],
            runs: [
                Run(
                    words: "",
                    started: "lint.format lint.clippy test[ubuntu,stable] test[ubuntu,beta] test[windows,stable] "
                        + "test[ubuntu,nightly] done")
            ], calls: ["cargo +nightly test --all-features", "cargo +stable test"]),
        Kind(
            name: "github-release", original: "release.yml", title: "a release with artifacts on GitHub",
            programs: ["git", "make", "./upload", "./withdraw"],
            files: ["git": "echo v2", "make": "mkdir -p \"${3#OUT=}\""],
            runs: [
                Run(words: "", started: "build[x86_64] build[arm64]"),
                Run(words: "--param channel=stable", started: "build[x86_64] build[arm64] publish.upload"),
            ], calls: ["make TARGET=arm64 VERSION=v2 OUT=out/arm64"]),
        Kind(
            name: "github-monorepo", original: "ci.yml", title: "a monorepo on GitHub",
            programs: ["npm", "./changed-packages"],
            files: ["./changed-packages": "echo '[\"web\",\"core\"]'", "packages/web/x": "", "packages/core/x": ""],
            runs: [
                Run(
                    words: "",
                    started: "changes package[web].install package[web].lint package[web].test package[web].build "
                        + "package[core].install package[core].lint package[core].test package[core].build summary")
            ], calls: ["npm ci", "npm run lint"]),
        Kind(
            name: "gitlab", original: ".gitlab-ci.yml", title: "stages on GitLab",
            programs: ["make", "./deploy", "./notify"],
            runs: [
                Run(
                    words: "",
                    started: "build test.unit test.integration[postgres] test.integration[mysql] test.audit"),
                Run(
                    words: "production",
                    started: "build test.unit test.integration[postgres] test.integration[mysql] test.audit "
                        + "production.deploy production.finally.notify"),
            ], calls: ["make integration DATABASE=mysql"]),
        Kind(
            name: "argo", original: "workflow.yml", title: "a DAG over parameters in Argo",
            programs: ["./list", "./convert", "./load", "./notify"], files: ["./list": "echo '[\"p1\",\"p2\"]'"],
            runs: [Run(words: "", started: "list convert[p1] convert[p2] load finally.notify")],
            calls: ["list today", "convert p2", "notify success"]),
        Kind(
            name: "tekton", original: "pipeline.yml", title: "a pipeline in Tekton",
            programs: ["git", "go", "./build-image", "./push", "./report"], files: ["./build-image": "echo sha256:1"],
            runs: [
                Run(words: "--param url=u --param push=true", started: "clone unit build push finally.report"),
                Run(words: "--param url=u", started: "clone unit build finally.report"),
            ], calls: ["git clone u source", "push sha256:1", "report success"]),
        Kind(
            name: "snakemake", original: "Snakefile", title: "samples in Snakemake",
            programs: ["bwa", "samtools", "bcftools", "./plot"],
            runs: [
                Run(
                    words: "",
                    started: "folders sample[A].map sample[A].sort sample[B].map sample[B].sort sample[C].map "
                        + "sample[C].sort call plot")
            ], calls: ["bwa mem genome.fa samples/B.fastq", "bcftools call sorted/A.bam sorted/B.bam sorted/C.bam"]),
        Kind(
            name: "nextflow", original: "main.nf", title: "channels over rows in Nextflow",
            programs: ["fastqc", "align", "multiqc"],
            files: ["reads.csv": "id,reads\none,1.fq\ntwo,2.fq\n", "fastqc": "exit 1"],
            runs: [
                Run(
                    words: "",
                    started: "rows sample[0].fastqc sample[0].align sample[1].fastqc sample[1].align report")
            ], calls: ["align 2.fq", "multiqc ."]),
        Kind(
            name: "csv", original: "pipeline.sh", title: "rows of a CSV in a shell script",
            programs: ["./fetch", "./clean", "./check", "./load"], files: ["regions.csv": rows],
            runs: [
                Run(
                    words: "",
                    started: "regions folder region[0].fetch region[0].clean region[1].fetch region[1].clean join "
                        + "check load finally.remove")
            ], calls: ["fetch http://s", "clean data/north.raw", "load data/all"]),
        Kind(
            name: "compose", original: "compose.yml", title: "a stack of containers", programs: ["docker"],
            runs: [
                Run(
                    words: "",
                    started: "stack.database stack.cache stack.image stack.healthy stack.migrate stack.test "
                        + "stack.finally.down"),
                Run(
                    words: "stack.seed",
                    started: "stack.database stack.image stack.healthy stack.migrate stack.seed stack.finally.down"),
            ], calls: ["docker run --rm app ./migrate", "docker stop database cache"]),
        Kind(
            name: "turbo", original: "turbo.json", title: "packages with turbo",
            programs: ["npm", "./login", "./deploy"],
            runs: [
                Run(
                    words: "",
                    started: "core.build core.test core.lint ui.build ui.test ui.lint web.build web.test web.lint"),
                Run(words: "core", started: "core.build core.test core.lint"),
            ], calls: ["npm test --workspace ui"]),
    ]
}
