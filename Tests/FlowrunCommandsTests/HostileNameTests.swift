import Basics
import FlowrunTestSupport
import Foundation
import Testing

@testable import FlowrunCommands

/// Names that a pull request can choose, of files, ids and values, reach no terminal and no CI log in a form that
/// either obeys: every command, with every option, in every form of its answer. The output of steps is their own, after
/// their mark.
struct HostileNameTests {
    /// Used as names of files, values of options and words of commands.
    private static let names = [
        "ok\nFORGED ::error::x\u{1B}[2J\r.yml", "::error file=a::FORGED\u{202E}\u{85}.yml",
        "\u{2066}##[error]FORGED ##vso[task.complete]\u{E0041}\u{7F}.yml",
    ]

    /// Its texts hold all of these, too, in sound files and in others.
    private static func workflow(isSound: Bool) -> String {
        let text = #"x\u001B[2J\u202E\nFORGED ##[error]y"#
        return """
            version: 1
            name: "::error::\(text)"
            description: "::error::\(text)"
            params: { p: { type: string, default: "\(text)", description: "\(text)" } }
            vars: { v: { run: "echo x" } }
            steps:
              a: { name: "\(text)", description: "\(text)", if: "params.p != '\(text)'", run: "echo ok" }
              b: { for-each: ["\(text)", "c"], label: "\(text) $item", run: "true\\nfalse" }
              c: { mutex: m, env: { V: "${{ vars.v }}" }, run: "true" }
              \(isSound ? "" : #""\#(text)": { run: "${{ \#(text) }}", needs: ["\#(text)"], \#(text): 1 }"#)
            """
    }

    private func expectHarmless(_ result: FlowrunResult, _ arguments: [String]) {
        let isForGitHub = arguments.contains("github")
        for (stream, text) in [("output", result.stdout), ("error", result.stderr)] {
            let raw = text.unicodeScalars.filter { VisibleText.isEscaped($0.value) && $0 != "\n" && $0 != "\t" }
            #expect(raw.isEmpty, "standard \(stream) of \(arguments): \(text.debugDescription)")
            for line in text.split(separator: "\n") {
                let start = line.drop { $0 == " " || $0 == "\t" }
                let isOwn = isForGitHub && stream == "output" && start.contains(",title=FR")
                #expect(
                    !start.hasPrefix("FORGED") && (isOwn || !start.hasPrefix("::"))
                        && (isOwn || !line.contains("##[") && !line.contains("##vso[")),
                    "standard \(stream) of \(arguments): \(line.debugDescription)")
            }
        }
    }

    @Test(arguments: names, [true, false])
    func `nothing that a file is called or says steers a terminal or a CI job`(name: String, isSound: Bool) async throws
    {
        let test = try FlowrunTest()
        try test.write(Self.workflow(isSound: isSound), to: name)
        func expectHarmless(_ arguments: [String]) async throws {
            self.expectHarmless(
                try await test.start(arguments, environment: ["NO_COLOR": nil]).finish(), arguments)
        }
        // `-f` also takes a name that begins with a dash or a colon; check takes it as a word.
        for option in Option.all where option.name == .format {
            for command in Command.allCases where option.commands.contains(CommandSet(command)) {
                guard ![Command.ctl, .runs].contains(command) else { continue }
                for form in option.words ?? [] {
                    try await expectHarmless([command.rawValue, "--format", form, "-f", name])
                }
            }
        }
        try await expectHarmless(["check", "./" + name, name])
        try await expectHarmless(["plan", "--simulate", "-f", name])
        for log in ["text", "quiet"] { try await expectHarmless(["-f", name, "--log", log, "--verbose"]) }
        try await expectHarmless(["-f", name, "--output", "stream", "--progress", "plain", "--no-journal"])
        try await expectHarmless(["-f", name, "--dry-run"])
        for form in ["text", "json"] { try await expectHarmless(["runs", "--format", form, "-f", name]) }
        for command in ["show", "why"] {
            for step in ["a", "b", "b[0]", name] { try await expectHarmless([command, "-f", name, step]) }
        }
        try await expectHarmless(["replay", "--verbose"])
        try await expectHarmless(["ctl", "-f", name, "status"])
        try await expectHarmless(["init", "--from", name])
        for shell in CompletionScript.allCases {
            try await expectHarmless(["__complete", shell.rawValue, "run", "-f", name, ""])
            try await expectHarmless(["__complete", shell.rawValue, "run", "-f", name, "--param", ""])
        }
    }

    @Test(arguments: names) func `no word of a command line steers a terminal or a CI job`(name: String) async throws {
        let test = try FlowrunTest("version: 1\nparams: { p: { type: int, default: 1 } }\nsteps: { a: { run: echo } }")
        func expectHarmless(_ arguments: [String]) async throws {
            self.expectHarmless(try await test.start(arguments, stdin: .null).finish(), arguments)
        }
        for option in Option.all {
            guard case .none = option.value else {
                let owner = Command.allCases.first { option.commands.contains(CommandSet($0)) } ?? .run
                for spelling in [option.short.map { [$0, name] }, option.long.map { ["\($0)=\(name)"] }] {
                    if let spelling { try await expectHarmless([owner.rawValue] + spelling) }
                }
                continue
            }
            if let long = option.long { try await expectHarmless(["check", "\(long)=\(name)"]) }
        }
        for command in Command.allCases {
            try await expectHarmless([command.rawValue, name])
            try await expectHarmless([command.rawValue, "--\(name)"])
            try await expectHarmless([command.rawValue, name, name, "-\(name)"])
        }
        for value in ["p=\(name)", "\(name)=1", "=\(name)"] { try await expectHarmless(["--param", value]) }
        try await expectHarmless(["help", name])
        try await expectHarmless(["--env", "A B=\(name)"])
        try await expectHarmless(["ctl", "flowrun.yml", "jobs", name])
    }

    @Test func `harmless text stays as it is`() {
        for text in ["", "\n", "a: b\n\tc::d\n", "Grüße ✓ 🎉 日本\n  # [x] ##\n", "a ## b", "x ::error::"] {
            #expect(text.harmlessLines == text && text.harmlessJSON == text)
        }
        #expect("  ::a\n##[b]\n##vso[c\u{1B}\n".harmlessLines == "  \\x3a:a\n\\x23#[b]\n\\x23#vso[c\\x1b\n")
        #expect("\"\u{202E}\u{E0041}é\"".harmlessJSON == #""\u202e\udb40\udc41é""#)
        #expect("\"##[a ##vso[b\"".harmlessJSON == ##""\u0023#[a \u0023#vso[b""##)
    }
}
