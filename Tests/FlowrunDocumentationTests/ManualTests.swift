import Basics
import FlowrunCommands
import FlowrunTestSupport
import Foundation
import RunLog
import Testing
import Workflow

/// The manual pages say what the program does, and nothing else.
@Suite struct ManualTests {
    private static let commands = Command.allCases.map(\.rawValue)

    @Test func `flowrun(1) has every option of --help and no other`() async throws {
        let test = try FlowrunTest()
        var found: Set<String> = []
        var answers = [try await test.run("--help")]
        for command in Self.commands { answers.append(try await test.run(command, "--help")) }
        for result in answers {
            result.expect(exit: 0)
            for line in result.stdout.split(separator: "\n") {
                // An option's own line: two blanks, its spellings, two blanks or the end.
                guard let spellings = line.firstMatch(of: /^  (-.*?)(?:  .*)?$/)?.1 else { continue }
                let words = spellings.split { " ,/=[".contains($0) }
                found.formUnion(words.filter { $0.hasPrefix("-") }.map(String.init))
            }
        }
        #expect(try ManualPage("flowrun.1").options == found)
        #expect(Set(Option.all.flatMap { [$0.short, $0.long].compactMap(\.self) }) == found)
    }

    @Test func `flowrun(1) has every exit status`() throws {
        let statuses = try ManualPage("flowrun.1").items(in: "EXIT STATUS").map { String($0[0]) }
        #expect(statuses == FlowrunCommands.ExitStatus.allCases.map { String($0.rawValue) })
    }

    @Test func `flowrun(1) has every command`() throws {
        #expect(try ManualPage("flowrun.1").items(in: "COMMANDS", marked: "Cm") == Self.commands)
    }

    @Test func `flowrun(1) has every outcome, event and cause`() throws {
        let page = try ManualPage("flowrun.1")
        #expect(Set(page.items(in: "OUTCOMES", marked: "Cm")) == Set(StepOutcome.allCases.map(\.rawValue)))
        #expect(Set(page.words(in: "JSON LINES LOG", marked: "Li")).isSuperset(of: Cause.Kind.allCases.map(\.rawValue)))
    }

    @Test func `flowrun(1) has every field of the answers in JSON`() async throws {
        let test = try FlowrunTest(
            "version: 1\nparams: { p: { type: int } }\nsteps: { a: { run: x }, b: { needs: [a], steps: { c: { run: x } } } }\n",
            files: ["faulty.yml": "version: 1\nsteps: { abc: { run: x }, b: { needs: [abd], run: x } }\n"])
        var answers = [try await test.run("check", "--format", "json", "faulty.yml")]
        for command in ["plan", "list", "graph"] {
            answers.append(try await test.run(command, "--format", "json", "workflow.yml"))
        }
        try test.write("version: 1\nsteps: { g: { mutex: m, steps: { a: { mutex: n, run: x } } } }\n", to: "holder.yml")
        answers.append(try await test.run("plan", "--simulate", "--format", "json", "holder.yml"))
        try test.write(
            """
            version: 1
            vars: { v: { run: 'echo up > v.up; read _ < v.go; echo 1' } }
            steps: { a: { run: 'echo up > up; read _ < go' }, b: { run: 'echo "$v"' } }
            """, to: "held.yml")
        let gates = [try test.gate("go"), try test.gate("v.go")]
        let held = try await test.start("held.yml", "-j", "2")
        for file in ["up", "v.up"] { try await held.waitForFile(file) }
        answers.append(try await test.ask("ctl", "--file", "held.yml", "status", "--format", "json"))
        for gate in gates { gate.open() }
        try await held.finish().expect(exit: 0)
        try test.write("version: 1\nsteps: { a: { run: 'true' }, b: { needs: [a], run: 'false' } }\n", to: "fails.yml")
        try await test.run("fails.yml").expect(exit: 1)
        answers.append(try await test.run("fails.yml", "--dry-run", "--resume", "--env", "A=1", "--format", "json"))
        answers.append(try await test.run("runs", "--format", "json"))
        answers.append(try await test.run("explain", "--format", "json"))
        let why = try await test.ask("why", "-f", "fails.yml", "b", "--format", "json")
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(why.stdout.utf8))
        var report = StepReport("a", outcome: .failure)
        (report.item, report.state, report.attempt, report.earlier) = ("x", "running", 2, ["exit 1"])
        (report.needs, report.outputTail) = (["b"], [0x61])
        report.cause = Cause(kind: .exit, message: "exit 1", subject: .run)
        var json = JSONWriter()
        json.object { $0.fields(of: report) }
        let whole = try JSONDecoder().decode(JSONValue.self, from: Data(json.bytes))
        // Its cause has the fields of an event.
        var fields = Set(try #require(whole.object).keys)
        #expect(try fields.isSuperset(of: #require(answer.object).keys))
        for answer in answers {
            try JSONDecoder().decode(JSONValue.self, from: Data(answer.stdout.utf8)).collectKeys(into: &fields)
        }
        let words = Set(try ManualPage("flowrun.1").words(in: "JSON ANSWERS", marked: "Va"))
        #expect(words.symmetricDifference(fields) == [])
    }

    @Test func `flowrun-workflow(5) has every key at its places`() throws {
        var wanted: [String: Set<String>] = [:]
        for place in KeyPlace.allCases {
            // A group with `uses` is a group, and a template has mostly the keys of one.
            for key in place.keys where place != .template || !KeyPlace.group.keys.contains(key) {
                wanted[key.spelling, default: []].insert(place == .use ? "group" : "\(place)")
            }
        }
        #expect(try ManualPage("flowrun-workflow.5").keyPlaces == wanted)
    }

    @Test func `flowrun-workflow(5) has every word that is not supported yet`() throws {
        let page = try ManualPage("flowrun-workflow.5")
        let words = Set(page.words(in: "NOT SUPPORTED YET", marked: "Ic"))
        #expect(words == Set(WorkflowKey.notSupportedYet.map(\.spelling)))
    }

    @Test func `flowrun-workflow(5) has every signal, limit and edge`() throws {
        let page = try ManualPage("flowrun-workflow.5")
        let words = Set(page.words(in: "KEYS", marked: "Cm"))
        #expect(words.isSuperset(of: KillSignal.allCases.map(\.rawValue)))
        #expect(words.isSuperset(of: FailFastWord.allCases.map(\.rawValue)))
        #expect(words.isSuperset(of: Need.Kind.allCases.filter { $0 != .ok }.map { "\($0)" }))
        #expect(page.document.text.contains("Default: \(FanOut.defaultLimit)."))
    }

    @Test func `flowrun-workflow(5) has every word of a value`() throws {
        let page = try ManualPage("flowrun-workflow.5")
        let words = Set(page.words(in: "KEYS", marked: "Cm"))
        #expect(words.isSuperset(of: Parameter.Kind.words))
        #expect(words.isSuperset(of: OutputDeclaration.Kind.allCases.map(\.rawValue)))
        #expect(words.isSuperset(of: EnvironmentPolicy.allCases.map(\.rawValue)))
        #expect(words.isSuperset(of: LogView.allCases.map(\.rawValue)))
        #expect(words.isSuperset(of: OutputStreams.allCases.map(\.rawValue)))
        #expect(words.isSuperset(of: Platform.allCases.map(\.rawValue)))
        let fields = Set(page.items(in: "KEYS", marked: "Li"))
        #expect(fields == Set([FieldPlace.retry, .parameter, .sharedValue].flatMap { $0.fields.map(\.word) }))
    }

    private static let mandoc = ["/usr/bin/mandoc", "/usr/local/bin/mandoc"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: mandoc != nil, "mandoc is not installed"), arguments: ["flowrun.1", "flowrun-workflow.5"])
    func `mandoc finds no fault`(page: String) async throws {
        let script = #"exec mandoc -T lint -W warning "$1""#
        let result = try await FlowrunTest().run("\(PackageFolder.path)/man/\(page)", launcher: ["sh", "-c", script])
        result.expect(exit: 0, stdout: "", stderr: "")
    }

    @Test func `flowrun-workflow(5) begins with whole examples, which are good workflows`() async throws {
        let page = try PackageDocument("man/flowrun-workflow.5")
        let sections = page.lines.filter { $0.hasPrefix(".Sh ") }
        #expect(sections.prefix(4) == [".Sh NAME", ".Sh DESCRIPTION", ".Sh EXAMPLES", ".Sh FORMAT"])
        let starts = page.lines.indices.filter { page.lines[$0] == "version: 1" }
        #expect(starts.count >= 4)
        let test = try FlowrunTest()
        var paths: [String] = []
        for start in starts {
            let end = try #require(page.lines[start...].firstIndex(of: ".Ed"))
            try test.write(page.lines[start..<end].joined(separator: "\n") + "\n", to: "line\(start + 1).yml")
            try await test.run("check", "--strict", "line\(start + 1).yml").expect(exit: 0)
            paths.append(test.path("line\(start + 1).yml"))
        }
        try await expectSchemaAccepts(paths)
    }
}

extension JSONValue {
    /// The keys of all objects at any depth.
    fileprivate func collectKeys(into keys: inout Set<String>) {
        keys.formUnion((object ?? [:]).keys)
        for value in (object ?? [:]).values { value.collectKeys(into: &keys) }
        for value in array ?? [] { value.collectKeys(into: &keys) }
    }
}
