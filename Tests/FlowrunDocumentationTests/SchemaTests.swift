import FlowrunTestSupport
import Testing
import WorkflowModel

@Suite struct SchemaTests {
    @Test func `every property tells what it is`() throws {
        let properties = try WorkflowSchema().properties
        #expect(properties.count > 40)
        for (path, schema) in properties {
            #expect(schema["title"]?.string?.isEmpty == false, "\(path)")
            #expect(schema["description"]?.string?.isEmpty == false, "\(path)")
        }
    }

    @Test(arguments: ["step", "group", "defaults"])
    func `no place takes unknown keys`(place: String) throws {
        let schema = try WorkflowSchema()
        #expect(schema.root["additionalProperties"] == .bool(false))
        #expect(schema.definition(place)?["additionalProperties"] == .bool(false))
    }

    @Test func `each place has the keys that the decoder reads there`() throws {
        func spellings(_ keys: [WorkflowKey]) -> Set<String> { Set(keys.map(\.spelling)) }
        let read = [
            "top": spellings(WorkflowKeys.top), "defaults": spellings(WorkflowKeys.defaults),
            "group": spellings(WorkflowKeys.group), "step": spellings(WorkflowKeys.step),
        ]
        #expect(try WorkflowSchema().keys == read)
    }

    @Test func `words are those of the model`() throws {
        let schema = try WorkflowSchema()
        #expect(schema.definition("signal")?["enum"]?.strings == KillSignal.allCases.map(\.rawValue))
        #expect(schema.definition("failFast")?["enum"]?.array == [.bool(false), .bool(true), .string("drain")])
        #expect(FailFast.allCases.map(\.rawValue) == ["false", "true", "drain"])
    }

    private static let mistakes = [
        "{a: {run: x, steps: {}}}", "{a: {}}", "{a: {run: true}}", "{a: {run: []}}", "{a.b: {run: x}}",
        "{a: {run: x, timeout: 30}}", "{a: {run: x, timeout: 0s}}", "{a: {run: x, timeout: 30m1h}}",
        "{a: {run: x, kill-signal: SIGTERM}}", "{a: {run: x, continue-on-error: 1}}", "{a: {run: x, deps: [b]}}",
        "{a: {run: x, needs: b}, b: {run: x}}", "{a: {run: x, order: sequence}}", "{a: {steps: {}, max-parallel: 0}}",
        "{a: {run: x, as: y}}", "{a: {run: x, max-parallel: 2}}", "{a: {run: x, fail-fast: true}}",
        "{a: {run: x, max-items: 5}}", "{a: {run: x, for-each: [1], matrix: {b: [1]}}}",
        "{a: {run: x, matrix: {b: []}}}", "{a: {run: x, for-each: [1], as: 1a}}",
        "{a: {run: x, env: {FLOWRUN_X: 1}}}", "{a: {run: x, env: {1X: 1}}}",
    ]

    @Test(arguments: mistakes)
    func `check refuses what the schema refuses`(steps: String) async throws {
        let test = try FlowrunTest("version: 1\nsteps: \(steps)\n")
        try await test.run("check", "workflow.yml").expect(exit: 2)
    }

    /// So that an editor says while one types what `check` would say.
    @Test func `the schema refuses what check refuses`() async throws {
        let test = try FlowrunTest()
        for (index, steps) in Self.mistakes.enumerated() {
            try test.write("version: 1\nsteps: \(steps)\n", to: "\(index).yml")
        }
        let script = "\(PackageFolder.path)/Tests/Scripts/validate_workflow.py"
        let result = try await test.run(script, launcher: ["sh", "-c", #"exec python3 "$1" *.yml"#])
        result.expect(exit: 1)
        let refused = Set(result.stdout.split(separator: "\n").map { $0.prefix { $0 != ":" } })
        for (index, steps) in Self.mistakes.enumerated() {
            #expect(refused.contains("\(index).yml"), "\(steps)")
        }
    }
}
