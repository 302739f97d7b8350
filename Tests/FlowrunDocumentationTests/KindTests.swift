import FlowrunTestSupport
import Foundation
import Testing

/// Files of the kinds that people have, each said in flowrun's words and run.
@Suite struct KindTests {
    @Test func `there are eighteen`() throws {
        #expect(Kind.all.count == 18)
        let folder = "\(PackageFolder.path)/Tests/FlowrunDocumentationTests/Kinds"
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(Set(folders) == Set(Kind.all.map(\.name)))
    }

    @Test(arguments: Kind.all)
    func `each runs what is named, and calls what the original calls`(kind: Kind) async throws {
        let test = try kind.makeFolder()
        try await test.run("check", "--strict", "flowrun.yml").expect(exit: 0)
        let path = "\(test.path("bin")):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        for (index, run) in kind.runs.enumerated() {
            let environment = ["PATH": path, "CALLS": test.path(".calls"), "TOKEN": "t0k3n"]
            let words = run.words.split(separator: " ").map(String.init)
            let options = ["--log", "json", "-j", "2"]
            let split = words.firstIndex(of: "--") ?? words.endIndex
            let result = try await test.start(words[..<split] + options + words[split...], environment: environment)
                .finish()
            result.expect(exit: run.exit)
            let started = Set(try result.log().startOrder)
            #expect(started == Set(run.started.split(separator: " ").map(String.init)), "flowrun \(run.words)")
            guard index == 0 else { continue }
            let calls = try test.contents(of: ".calls").split(separator: "\n").map(String.init)
            for call in kind.calls { #expect(calls.contains(call), "\(calls)") }
        }
    }

    @Test func `the schema accepts all`() async throws {
        try await expectSchemaAccepts(Kind.all.map { "\(PackageFolder.path)/\($0.folder)/flowrun.yml" })
    }

    @Test func `the page counts their lines`() throws {
        let page = try PackageDocument("Sources/FlowrunCommands/Flowrun.docc/ComingFrom.md").text
        for kind in Kind.all {
            let (old, new) = try (
                Kind.count("\(kind.folder)/\(kind.original)"), Kind.count("\(kind.folder)/flowrun.yml")
            )
            #expect(page.contains("| \(kind.title) | \(old) | \(new) |"), "| \(kind.title) | \(old) | \(new) |")
        }
    }
}
