import FlowrunTestSupport
import Syntax
import Testing

@testable import Running
@testable import Workflow

func secret(_ name: String, _ source: Secret.Source) -> Secret {
    Secret(name: name, source: source, range: .beginning)
}

extension RunSecrets {
    /// What a run reads and then demands.
    init(
        demanding isNeeded: (String) -> Bool = { _ in true }, of secrets: [Secret], folder: String?,
        variable: (String) -> [UInt8]?
    ) throws(ReadError) {
        self.init(secrets, folder: folder, variable: variable)
        try demand(isNeeded)
    }
}

@Suite struct RunSecretsTests {
    private static let variables = ["CI_TOKEN": "token-of-ci", "SHORT": "abc", "EMPTY": "", "NUL": "ab\0cd"]

    private static func variable(_ name: String) -> [UInt8]? { variables[name].map { Array($0.utf8) } }

    private func read(_ secrets: [Secret], isNeeded: (String) -> Bool = { _ in true }) throws -> RunSecrets {
        try RunSecrets(demanding: isNeeded, of: secrets, folder: nil, variable: Self.variable)
    }

    @Test func `a step gets the secrets that it lists, under their own names`() throws {
        let test = try FlowrunTest(files: ["key": "line one\nline two\r\n"])
        let secrets = try RunSecrets(
            of: [secret("TOKEN", .environment("CI_TOKEN")), secret("KEY", .file("key"))], folder: test.folder,
            variable: Self.variable)
        let uses = ["KEY", "TOKEN"].map { SecretUse(name: $0, range: .beginning) }
        #expect(
            secrets.environment(for: uses).map { "\($0)=\($1)" } == ["KEY=line one\nline two", "TOKEN=token-of-ci"])
        #expect(secrets.environment(for: []).isEmpty)
        #expect(secrets.sources == ["CI_TOKEN"])
        #expect(secrets.masked("token-of-ci, line two") == "***, ***")
        #expect(secrets.masked(Value.string("a line one")) == .string("a ***"))
        // A secret that is cut is none that the mask could find.
        #expect(
            secrets.quoted(String(repeating: "x", count: 55) + "token-of-ci")
                == "`\(String(repeating: "x", count: 55))***`")
    }

    @Test func `a workflow without secrets hides nothing`() throws {
        #expect(try read([]).mask == nil)
        #expect(RunSecrets.none.masked("anything") == "anything")
    }

    @Test func `all secrets that cannot be had are told at once`() throws {
        let test = try FlowrunTest(files: ["empty": "\n", "fine": "a good secret\n"])
        let wanted = [
            secret("A", .environment("UNSET")), secret("B", .environment("SHORT")), secret("C", .environment("EMPTY")),
            secret("D", .environment("NUL")), secret("E", .file("absent")), secret("F", .file("empty")),
            secret("G", .file("fine")), secret("H", .file(".")),
        ]
        let error = try #require(throws: RunSecrets.ReadError.self) {
            try RunSecrets(of: wanted, folder: test.folder, variable: Self.variable)
        }
        let reasons = ["not set", "3 bytes", "is empty", "NUL", "no such file", "is empty", "is a directory"]
        #expect(error.messages.count == reasons.count)
        for (message, reason) in zip(error.messages, reasons) { #expect(message.contains(reason), "\(message)") }
        #expect(
            error.messages.first == "secret `A`: the variable `UNSET` is not set; set it in the environment of flowrun")
    }

    @Test func `what is no text or too large is refused`() throws {
        #expect(throws: RunSecrets.ReadError.self) {
            try RunSecrets(
                of: [secret("A", .environment("A"))], folder: nil, variable: { _ in [0xFF, 0xFE, 0x41, 0x42] })
        }
        #expect(throws: RunSecrets.ReadError.self) {
            try RunSecrets(
                of: [secret("A", .environment("A"))], folder: nil,
                variable: { _ in [UInt8](repeating: 0x41, count: RunSecrets.sizeLimit + 1) })
        }
    }

    @Test func `a secret that no step of the run lists may be missing, and is hidden where it is there`() throws {
        let secrets = try read(
            [secret("A", .environment("UNSET")), secret("B", .environment("CI_TOKEN"))], isNeeded: { _ in false })
        #expect(secrets.masked("token-of-ci") == "***")
        #expect(secrets.sources == ["UNSET", "CI_TOKEN"])
    }
}
