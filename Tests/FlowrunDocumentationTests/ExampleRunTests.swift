import FlowrunTestSupport
import Testing

/// Every example, run from a copy of the folder, does what its comment says.
@Suite struct ExampleRunTests {
    /// Every workflow that a test below runs.
    static let covered: Set<String> = [
        "hello.yml", "c-project/workflow.yml", "matrix.yml", "pipeline.yml", "waterfall.yml", "timeouts.yml",
        "cleanup.yml", "environment.yml", "make/passing.yml", "make/failing.yml", "self.yml", "params.yml",
        "outputs.yml", "conditions.yml", "retry.yml", "locks.yml", "dynamic-fan-out.yml", "hooks.yml", "secrets.yml",
        "everyday/flowrun.yml", "scripts.yml", "reuse/flowrun.yml", "reuse/tools/measure.yml", "vars.yml",
        "expressions.yml", "commands.yml", "isolated.yml",
    ]

    @Test func `commands are listed in sections and have other names`() async throws {
        let test = try ExampleFolder.copy()
        let list = try await test.run("-f", "examples/commands.yml")
        list.expect(exit: 0)
        #expect(list.stdout.hasPrefix("Commands for people\n\nDevelopment:\nbuild  (or b, make) Compile everything\n"))
        #expect(!list.stdout.contains("tools"))
        let text = try PackageDocument("examples/commands.yml").text
        try test.write(text.replacing("default: list", with: "default: []"), to: "examples/commands.yml")
        #expect(try await test.run("-f", "examples/commands.yml").stdout == list.stdout)
        let result = try await test.run(
            "-f", "examples/commands.yml", "t", "greet", "name=Ann", "times=2", "--log", "json")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "test") == "tested\n")
        #expect(try result.log().output(of: "greet") == "hello, Ann\nhello, Ann\n")
        try await test.run("-f", "examples/commands.yml", "tools").expect(exit: 64, stdout: "")
        try test.write("one two\n", to: "examples/two.txt")
        let counted = try await test.run("-f", "examples/commands.yml", "count", "--log", "json", "--", "-w", "two.txt")
        #expect(try counted.log().output(of: "count.call") == "2 two.txt\n")
    }

    /// Runs an example and holds its log against the rules of every log.
    private func log(of file: String, in test: FlowrunTest) async throws -> EventLog {
        let result = try await test.run("examples/\(file)", "--log", "json")
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log)
        #expect(test.survivors().isEmpty)
        return log
    }

    @Test func `hello greets`() async throws {
        let log = try await log(of: "hello.yml", in: ExampleFolder.copy())
        #expect(log.output(of: "greet") == "hello, world\n")
        #expect(log.startOrder.last == "greet")
    }

    @Test func `vars makes each value once, and only what is read`() async throws {
        let test = try ExampleFolder.copy()
        let log = try await log(of: "vars.yml", in: test)
        #expect(log.output(of: "build[arm64].compile") == "compiling 1a2b3c4 with -Og --target=arm64 -j4\n")
        #expect(log.output(of: "publish").hasPrefix("would push registry.example.com/app:dev-1a2b3c4 from /"))
        let words = log.output(of: "count").split(separator: " ")
        #expect(words.first == words.dropFirst(3).first)
        let release = try await test.run("examples/vars.yml", "build", "--log", "json", "--param", "tag=v1")
        #expect(try release.log().output(of: "build[x86_64].compile").contains("-O3"))
    }

    @Test func `a step of hello runs with what it needs`() async throws {
        let result = try await ExampleFolder.copy().run("examples/hello.yml", "where", "--log", "json")
        result.expect(exit: 0)
        #expect(try result.log().outcomes == ["where": "success"])
    }

    @Test func `the everyday file runs its default, and by name what is manual`() async throws {
        let test = try ExampleFolder.copy()
        let folder = "examples/everyday"
        func started(_ steps: String...) async throws -> [String] {
            let result = try await test.start(["-C", folder, "--log", "json"] + steps).finish()
            result.expect(exit: 0)
            return try result.log().startOrder
        }
        #expect(try await started() == ["build", "test"])
        #expect(try await started("build") == ["build"])
        #expect(try await started("package") == ["build", "test", "package"])
        #expect(try await started("all") == ["build", "test", "package"])
        #expect(test.exists("\(folder)/out/greeting.tar"))
        let said = try await test.run("-C", folder, "say", "--log", "json", "--", "hi", "you")
        #expect(try said.log().output(of: "say") == "hi\nyou\n")
        #expect(try await started("clean") == ["clean"])
        #expect(!test.exists("\(folder)/out"))
    }

    @Test func `a template and a file are used by several groups`() async throws {
        let test = try ExampleFolder.copy()
        let log = try await log(of: "reuse/flowrun.yml", in: test)
        #expect(log.output(of: "words.report") == "4 words\n")
        #expect(log.output(of: "lines.report") == "2 lines\n")
        #expect(log.output(of: "total") == "4 words in 2 lines\n")
        let chosen = try await test.run("-C", "examples/reuse", "words.measure", "--log", "json")
        #expect(
            try chosen.log().startOrder == ["count-words.fetch", "count-words.make", "words.measure", "finally.clean"])
        let alone = try await test.run("examples/reuse/tools/measure.yml", "--param", "tool=wc", "--log", "json")
        #expect(try alone.log().output(of: "report").hasSuffix(" words\n"))
    }

    @Test func `scripts are read by who is named, and the command that fails is found`() async throws {
        let log = try await log(of: "scripts.yml", in: ExampleFolder.copy())
        #expect(log.output(of: "report") == "squares:\n1\n4\n9\n")
        #expect(log.output(of: "posix") == "read by sh\n")
        #expect(log.output(of: "apart", stream: "stdout") == "the result\n")
        #expect(log.output(of: "apart", stream: "stderr") == "a remark\n")
        let cause = log.finished("count")?.cause
        #expect(cause?.message == "exit 1 in `grep --quiet \"$1\" scripts.yml`")
        let line = try PackageDocument("examples/scripts.yml").lines.firstIndex { $0.contains("grep --quiet") }
        #expect(cause?.root["line"]?.int == line.map { $0 + 1 })
    }

    @Test func `the C project is compiled, linked and tested`() async throws {
        let test = try ExampleFolder.copy()
        let log = try await log(of: "c-project/workflow.yml", in: test)
        #expect(log.output(of: "test.unit") == "4 tests passed\n")
        #expect(log.output(of: "test.itself").hasPrefix("     66 table\n"))
        #expect(test.exists("examples/c-project/build/wordcount"))
    }

    @Test func `a broken C project fails where it is broken`() async throws {
        let test = try ExampleFolder.copy()
        try test.write("int main(void) { return x; }\n", to: "examples/c-project/src/main.c")
        let result = try await test.run("examples/c-project/workflow.yml", "--log", "json")
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.errors == ["compile[main]"])
        #expect(log.outcomes["compile[table]"] == "success")
        #expect(log.outcomes["test.unit"] == "not-run")
        #expect(log.finished("test.unit")?.cause?.rootStep == "compile[main]")
    }

    @Test func `the matrix has its product, less exclude, plus include`() async throws {
        let log = try await log(of: "matrix.yml", in: ExampleFolder.copy())
        let wanted = [
            "digest[md5,0]", "digest[md5,1]", "digest[sha256,0]", "digest[sha256,1]", "digest[sha256,65537]",
            "digest[sha512,0]", "digest[sha512,1]", "digest[sha512,65537]", "digest[b2,1]", "report",
        ]
        #expect(log.outcomes == Dictionary(uniqueKeysWithValues: wanted.map { ($0, "success") }))
        #expect(log.maximumRunning { $0.hasPrefix("digest") } <= 4)
    }

    @Test func `the pipeline sums up all regions, two at a time`() async throws {
        let log = try await log(of: "pipeline.yml", in: ExampleFolder.copy())
        // 3 * (1 + … + 1000), less every tenth.
        #expect(log.output(of: "report").split(separator: "\n").contains("total 5400000"))
        let started = log.all("group.started").compactMap(\.group)
        #expect(Set(started).isSuperset(of: ["regions[north]", "regions[north].clean", "regions[west].clean"]))
        let regions = Set(["north", "east", "south", "west"].map { "regions[\($0)]" })
        #expect(openGroups(in: log, among: regions) == 2)
    }

    /// The largest number of groups in progress at once.
    private func openGroups(in log: EventLog, among groups: Set<String>) -> Int {
        var open = 0
        var most = 0
        for record in log.records where groups.contains(record.group ?? "") {
            if record.event == "group.started" { open += 1 }
            if record.event == "group.finished" { open -= 1 }
            most = max(most, open)
        }
        return most
    }

    @Test func `the waterfall runs in the order of the file and hands its results on`() async throws {
        let log = try await log(of: "waterfall.yml", in: ExampleFolder.copy())
        let release = ["collect", "pack", "sign", "verify"].map { "release.\($0)" }
        #expect(log.startOrder == release + ["publish", "finally.tidy"])
        let published = log.output(of: "publish")
        #expect(published.wholeMatch(of: /checksum [0-9a-f]{64}\n/) != nil, "\(published)")
    }

    @Test func `parameters reach steps as variables and as values`() async throws {
        let test = try ExampleFolder.copy()
        let plain = try await log(of: "params.yml", in: test)
        #expect(plain.output(of: "greet[moon]") == "hello, moon\n")
        #expect(plain.outcomes["shout"] == "skipped")
        let result = try await test.run(
            "examples/params.yml", "--log", "json", "--param", "greeting=good day", "--param", "style=loud", "--param",
            "times=2", "--param", "names=ann,bob")
        result.expect(exit: 0)
        let loud = try result.log()
        #expect(loud.output(of: "greet[bob]") == "good day, bob\ngood day, bob\n")
        #expect(loud.output(of: "shout") == "GOOD DAY, ANN AND BOB")
        try await test.run("examples/params.yml", "--param", "greeting=x1").expect(exit: 64)
    }

    @Test func `settings follow from parameters, and a wrong one ends the run before it starts`() async throws {
        let test = try ExampleFolder.copy()
        let plain = try await log(of: "expressions.yml", in: test)
        #expect(plain.output(of: "test[0]") + plain.output(of: "test[1]") == "shard 0 of 2\nshard 1 of 2\n")
        #expect(plain.output(of: "pack[linux,zip]") == "packs v1.0 for linux into out/v1.0.zip\n")
        #expect(plain.outcomes["keep"] == "skipped")
        let other = try await test.run(
            "examples/expressions.yml", "--param", "tag=Fix/Typo", "--param", "shards=3", "--log", "json")
        #expect(try other.log().output(of: "keep") == "keeps fix-typo\n")
        let wrong = try await test.run("examples/expressions.yml", "--param", "limit=soon")
        wrong.expect(exit: 2, stdout: "")
        let publish = ["examples/expressions.yml", "publish", "--log", "json"]
        let unanswered = try await test.start(publish).finish()
        unanswered.expect(exit: 1)
        #expect(unanswered.stdout.contains("Publish v1.0 from out/v1.0?"))
        let answered = try await test.start(publish + ["--yes"]).finish()
        #expect(try answered.log().output(of: "publish") == "published v1.0\n")
        let elsewhere = try await test.start(publish + ["--yes", "--param", "systems=macos"]).finish()
        elsewhere.expect(exit: 0)
        #expect(try elsewhere.log().outcomes["publish"] == "skipped")
    }

    @Test func `outputs reach the report`() async throws {
        let log = try await log(of: "outputs.yml", in: ExampleFolder.copy())
        let report = log.output(of: "report")
        #expect(report.wholeMatch(of: /1\.4\.2: [0-9]+ lines, most of them in \.\/matrix\.yml\n/) != nil, "\(report)")
    }

    @Test func `conditions skip what they are about and nothing behind it`() async throws {
        let log = try await log(of: "conditions.yml", in: ExampleFolder.copy())
        #expect(
            log.outcomes == [
                "test": "failure", "publish": "skipped", "announce": "success", "full.slow": "skipped",
                "full.slower": "skipped", "diagnose": "success", "tidy": "success", "guarded": "success",
                "elsewhere": "skipped",
            ])
        #expect(log.output(of: "guarded") == "a\nb\n")
        #expect(log.output(of: "diagnose") == "exit status 3\n")
    }

    @Test func `isolated groups write the same file without a trace`() async throws {
        let log = try await log(of: "isolated.yml", in: ExampleFolder.copy())
        for mode in ["debug", "release"] { #expect(log.output(of: "build[\(mode)].compile") == "mode = \(mode)\n") }
        #expect(log.outcomes["clean"] == "success")
    }

    @Test func `attempts are as many as it takes`() async throws {
        let log = try await log(of: "retry.yml", in: ExampleFolder.copy())
        #expect(log.all("step.started", step: "flaky").count == 3)
        #expect(log.all("step.started", step: "picky").count == 1)
        #expect(log.all("step.started", step: "together.write").count == 2)
        #expect(log.outcomes["flaky"] == "success" && log.outcomes["picky"] == "failure")
    }

    @Test func `locks keep apart what they are asked for`() async throws {
        let log = try await log(of: "locks.yml", in: ExampleFolder.copy())
        #expect(log.maximumRunning { $0.hasPrefix("print[") } <= 2)
        #expect(log.maximumRunning { $0.hasPrefix("deposit[") || $0.hasPrefix("transfer.") } == 1)
        #expect(log.output(of: "balance") == "55\n")
    }

    @Test func `a fan-out goes over what a step has found`() async throws {
        let log = try await log(of: "dynamic-fan-out.yml", in: ExampleFolder.copy())
        let files = ExampleFolder.workflows.filter { $0.wholeMatch(of: /[c-m][^\/]*\.yml/) != nil }
        #expect(log.output(of: "report").hasPrefix("\(files.count) files, "))
        #expect(Set(log.outcomes.keys).isSuperset(of: files.map { "inspect[\($0)].count" }))
    }

    @Test func `hooks run after a failure, and in any case`() async throws {
        let log = try await log(of: "hooks.yml", in: ExampleFolder.copy())
        #expect(log.output(of: "deploy.finally.unlock") == "unlocked version 1\n")
        #expect(log.output(of: "show") == "version 1\n")
        #expect(log.output(of: "finally.report") == "deployment ended with success\n")
        #expect(
            !log.startOrder.contains("on-failure.notify")
                && log.startOrder.suffix(2) == ["finally.tidy", "finally.report"])
    }

    @Test func `secrets stay where they are listed`() async throws {
        let test = try ExampleFolder.copy()
        let result = try await test.run("examples/secrets.yml", "--log", "json")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "use").hasPrefix("plain ***\n") && log.output(of: "use").hasSuffix("\n28\n"))
        for form in ["correct horse", "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"] { #expect(!result.stdout.contains(form)) }
        #expect(log.outcomes == ["use": "success", "other": "success", "clean": "success"])
    }

    @Test func `time limits end the deaf, too, and leave nothing behind`() async throws {
        let log = try await log(of: "timeouts.yml", in: ExampleFolder.copy())
        #expect(
            log.outcomes == [
                "polite": "timeout", "deaf": "timeout", "tidy": "timeout", "quick": "success", "verdict": "success",
            ])
        #expect(log.finished("deaf")?["signal"]?.string == "SIGKILL")
        #expect(log.output(of: "tidy") == "interrupted, tidying up\n")
        #expect(Set(log.runFinished?["tolerated"]?.strings ?? []) == ["polite", "deaf", "tidy"])
    }

    @Test func `edges choose what follows a failure`() async throws {
        let log = try await log(of: "cleanup.yml", in: ExampleFolder.copy())
        #expect(
            log.outcomes == [
                "lock": "success", "deploy": "success", "check": "failure", "roll-back": "success",
                "announce": "not-run", "unlock": "success",
            ])
        #expect(log.output(of: "roll-back") == "version 1\n")
    }

    @Test func `the innermost environment wins`() async throws {
        let test = try ExampleFolder.copy()
        let found = try await log(of: "environment.yml", in: test)
        #expect(found.output(of: "paint.shell") == "paint.shell paints it red\n")
        #expect(found.output(of: "paint.other") == "large and red\n")

        try test.write("SIZE=tiny\n", to: "examples/environment.local.env")
        let result = try await test.run(
            "examples/environment.yml", "paint.other", "--env", "COLOR=black", "--log", "json")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "paint.other") == "tiny and black\n")
    }

    @Test func `make gets the exit status`() async throws {
        let test = try ExampleFolder.copy()
        func make(_ target: String) async throws -> FlowrunResult {
            // `$0` is the program under test, `$1` the target.
            try await test.run(target, launcher: ["sh", "-c", #"exec make -C examples/make FLOWRUN="$0" "$1""#])
        }
        try await make("test").expect(exit: 0)
        let broken = try await make("broken")
        broken.expect(exit: 2)
        broken.expect(stdout: "this step fails on purpose")
        broken.expect(stderr: "Error 1")
        let status = try await make("status")
        status.expect(exit: 0)
        status.expect(stdout: "passing.yml: exit status 0\n", "failing.yml: exit status 1\n")
    }

    /// Its build and test steps are not run here: they would run these tests again. State of its own, because the run
    /// around these tests may be one of the same file.
    @Test func `self knows its tools`() async throws {
        let test = try FlowrunTest()
        let result = try await test.run(
            "\(PackageFolder.path)/examples/self.yml", "tools", "--log", "json", "--state-dir", test.path("state"))
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes == ["tools.setup": "success", "tools.versions": "success"])
        #expect(log.output(of: "tools.versions").contains("Swift version"))
    }
}
