import FlowrunTestSupport
import Foundation
import Testing

/// A file of one construct for one of the tools, and the calls that it makes there.
///
/// The files in `Samples/micro` have one after the other:
///
///     ## name
///     @ call: words of the tool's call, if there are any
///     @ flowrun: those for flowrun, if they are others
///     @ env: NAME=value …
///     @ order: any, if the order of the calls does not matter
///     @ expect: equal, unfinished, stops or refused
///     --- Makefile
///     its lines, and further files
///     --- calls
///     ends with 0, or fails; then each call of a program with the folder, and its words in angle brackets
///
/// The calls of make, just and task were recorded from GNU Make 4.3, just 1.59.0 and Task 3.54.0; those of GitHub
/// workflows are written by hand.
struct MicroFixture: Sendable, CustomTestStringConvertible {
    let tool: String
    let name: String
    private(set) var keys: [String: String] = [:]
    private(set) var files: [String: String] = [:]
    private(set) var calls: [String] = []

    var testDescription: String { "\(tool): \(name)" }
    var order: String? { keys["order"] }

    /// The words of a call, in which quotes keep blanks.
    func words(_ key: String) -> [String]? {
        guard let text = keys[key] else { return nil }
        var words: [String] = []
        var isInQuotes = false
        var word: String?
        for character in text {
            if character == "'" {
                isInQuotes.toggle()
                word = word ?? ""
            } else if character == " ", !isInQuotes {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap { $0 }
    }

    static let paths = [
        "make": "Makefile", "just": "justfile", "task": "Taskfile.yml", "github": ".github/workflows/ci.yml",
    ]

    static let all: [MicroFixture] = paths.keys.sorted().flatMap { tool in
        let path = "\(PackageFolder.path)/Packages/Convert/Tests/Samples/micro/\(tool).txt"
        return read((try? String(contentsOfFile: path, encoding: .utf8)) ?? "", tool)
    }

    private static func read(_ text: String, _ tool: String) -> [MicroFixture] {
        var fixtures: [MicroFixture] = []
        var part: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("## ") {
                fixtures.append(MicroFixture(tool: tool, name: String(line.dropFirst(3))))
                part = nil
            } else if line.hasPrefix("--- ") {
                part = String(line.dropFirst(4))
                if part != "calls" { fixtures[fixtures.count - 1].files[part ?? ""] = "" }
            } else if part == nil, line.hasPrefix("@ ") {
                let pair = line.dropFirst(2).split(separator: ":", maxSplits: 1)
                fixtures[fixtures.count - 1].keys[String(pair[0])] = pair[1].trimmingCharacters(in: .whitespaces)
            } else if part == "calls" {
                if !line.isEmpty { fixtures[fixtures.count - 1].calls.append(line) }
            } else if let part {
                fixtures[fixtures.count - 1].files[part, default: ""] += line + "\n"
            }
        }
        return fixtures
    }
}

/// No step is green and does something else than the file that it was made from.
struct MicroFixtureTests {
    @Test func `there are fixtures of each tool, and most of them are equal`() {
        let counts = Dictionary(grouping: MicroFixture.all, by: \.tool).mapValues(\.count)
        #expect(counts.allSatisfy { $0.value >= 60 } && counts.count == 4, "\(counts)")
        for (tool, fixtures) in Dictionary(grouping: MicroFixture.all, by: \.tool) where tool != "github" {
            let equal = fixtures.count { $0.keys["expect"] == "equal" }
            #expect(equal * 4 >= fixtures.count * 3, "\(tool): \(equal) of \(fixtures.count)")
        }
    }

    @Test(arguments: MicroFixture.all)
    func `a converted file makes the calls of the original, or says that it is unfinished`(
        _ fixture: MicroFixture
    ) async throws {
        let test = try FlowrunTest(files: Self.programs.merging(fixture.files.map { ("w/" + $0, $1) }) { $1 })
        for name in Self.programs.keys {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: test.path(name))
        }
        try test.write("", to: "calls")
        var environment: [String: String?] = [
            "PATH": "\(test.folder)/bin:/usr/bin:/bin", "HOME": "/home/me", "CALLS": test.path("calls"),
            "HARNESS_ROOT": test.path("w"), "XDG_STATE_HOME": test.path("state"),
        ]
        for name in ["MAKEFLAGS", "MAKELEVEL", "CI", "GITHUB_SHA", "GITHUB_REF"] { environment[name] = .some(nil) }
        for word in fixture.words("env") ?? [] {
            let pair = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            environment[String(pair[0])] = String(pair[1])
        }
        let path = try #require(MicroFixture.paths[fixture.tool])
        let made = try await test.run(
            "init", "--from", path, "-o", "flowrun.yml", environment: environment, in: "w")
        guard fixture.keys["expect"] != "refused" else {
            #expect(made.status != .exited(0))
            return
        }
        try #require(made.status == .exited(0), "\(made.stderr)")
        let words = fixture.words("flowrun") ?? fixture.words("call") ?? []
        let run = try await test.start(["-j", "1", "-y"] + words, environment: environment, in: "w").finish()
        let text = try test.contents(of: "w/flowrun.yml")
        let isUnfinished = (run.stdout + run.stderr).contains("to be filled in, see the workflow file")
        var calls = try test.contents(of: "calls").split(separator: "\n").map(String.init)
        if fixture.order == "any" { calls.sort() }
        switch fixture.keys["expect"] {
        case "unfinished": #expect(isUnfinished && run.status != .exited(0), "\(text)\n\(run.stderr)")
        case "stops": #expect(!isUnfinished && run.status != .exited(0), "\(text)\n\(run.stderr)")
        default:
            let expected = fixture.calls.joined(separator: "\n")
            #expect(
                ([run.status == .exited(0) ? "ends with 0" : "fails"] + calls).joined(separator: "\n") == expected,
                "\(text)")
            #expect(!isUnfinished, "\(text)")
        }
    }

    /// Programs that write down how they are called, and `show`, which writes down variables of its environment.
    private static let programs: [String: String] = {
        let call = """
            #!/bin/bash
            folder=${PWD#"$HARNESS_ROOT"}
            # A job of GitHub has a copy of the tree.
            if [[ $folder =~ ^/\\.flowrun/trees/[^/]+/[^/]+/tree(.*)$ ]]; then folder=${BASH_REMATCH[1]}; fi
            line="${folder:+$folder: }${0##*/}"
            for word; do line+=" <$word>"; done
            printf '%s\\n' "$line" >> "$CALLS"

            """
        let show = """
            #!/bin/bash
            for name; do
              if [ -n "${!name+x}" ]; then printf '%s=<%s>\\n' "$name" "${!name}"; else printf '%s is not set\\n' "$name"; fi
            done >> "$CALLS"

            """
        let names = ["say", "cc", "gcc", "clang", "g++", "go", "sudo", "npm", "ar", "ld", "pip"]
        return Dictionary(uniqueKeysWithValues: names.map { ("bin/\($0)", call) } + [("bin/show", show)])
    }()
}
