import FlowrunTestSupport
import Testing
import Workflow

/// Each key of a step, changed between a run and its resume.
struct DefinitionTests {
    /// The first needs a terminal, the second a hook, and the third keeps the step from being named.
    private static let keys = KeyPlace.step.keys.filter { ![.interactive, .undoes, .internal].contains($0) }

    @Test(arguments: keys)
    func `a step whose key says something else runs again if the table of keys says so`(key: WorkflowKey) async throws {
        let test = try FlowrunTest()
        for (file, text) in [("s", "a secret text"), ("a.env", "A=1"), ("b.env", "A=2"), ("d/x", "")] {
            try test.write(text, to: file)
        }
        let (old, new) = try #require(Self.values(of: key), "no values for \(key.definition.type(in: .step))")
        try test.write(Self.workflow(key, old), to: "workflow.yml")
        try await test.run("workflow.yml", "a", "bad", "--yes").expect(exit: 1)
        try test.write(Self.workflow(key, new), to: "workflow.yml")
        let result = try await test.run("workflow.yml", "a", "bad", "--yes", "--resume", "--log", "json")
        result.expect(exit: 1)
        let hasRun = try result.log().all("step.started").contains { $0.step?.hasPrefix("a") == true }
        #expect(hasRun == key.definition.isInDefinition)
    }

    private static func workflow(_ key: WorkflowKey, _ value: String) -> String {
        let partner = [.as, .label, .maxItems, .maxParallel, .failFast].contains(key) ? ", for-each: [1]" : ""
        let body = key == .run ? "" : ", run: echo x"
        return """
            version: 1
            secrets: { S: { file: s }, T: { file: s } }
            pools: { p: 1, q: 1 }
            steps:
              y: { run: "true" }
              z: { run: "true" }
              a: { \(key.spelling): \(value)\(partner)\(body) }
              bad: { run: "false" }

            """
    }

    /// Two values of a key that mean something else; nil for a type without any.
    private static func values(of key: WorkflowKey) -> (String, String)? {
        switch key.definition.type(in: .step) {
        case .text, .question, .scalar, .label: ("one", "two")
        case .aliases: ("[n]", "[m]")
        case .params: ("{ p: { type: bool } }", "{ p: { type: bool, default: true } }")
        case .variable: ("i", "j")
        case .flag: ("false", "true")
        case .needs: ("[y]", "[z]")
        case .condition: ("true", "success()")
        case .requirements: ("[{ if: true, message: m }]", "[{ if: true, message: n }]")
        case .run: ("echo x", "echo  x")
        case .secretUses: ("[S]", "[T]")
        case .environment: ("{ A: 1 }", "{ A: 2 }")
        case .envPolicy: ("inherit", "clean")
        case .dotenv: ("a.env", "b.env")
        case .shell: ("bash", "sh")
        case .folder: (".", "d")
        case .streams: ("together", "separate")
        case .jobserver: ("false", "true")
        case .log: ("live", "grouped")
        case .stepOutputs: ("{ o: { from: stdout } }", "{ p: { from: stdout } }")
        case .duration: ("10m", "20m")
        case .grace: ("1s", "2s")
        case .signal: ("TERM", "INT")
        case .retry: ("{ attempts: 2 }", "{ attempts: 3 }")
        case .poolRequests: ("p", "q")
        case .mutexes: ("m", "n")
        case .platforms: ("[linux]", "[linux, macos]")
        case .matrix: ("{ x: [1] }", "{ x: [2] }")
        case .items: ("[1]", "[2]")
        case .wholeNumber: ("5", "6")
        case .failFast: ("false", "true")
        default: nil
        }
    }
}
