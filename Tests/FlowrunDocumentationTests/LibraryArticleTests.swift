import FlowrunTestSupport
import Foundation
import Testing

/// The articles of the library's documentation against the code that its tests compile and run.
@Suite struct LibraryArticleTests {
    private static let catalog = "Sources/AsyncOperations/AsyncOperations.docc"
    private static let tests = "Tests/AsyncOperationsTests"
    private static let schedulerTests = "Tests/SchedulingTests"
    private static let programTests = "Tests/FlowrunEndToEndTests"

    @Test(arguments: [
        "FirstSteps", "ChainOfRequests", "MixedOperations", "DependenciesWithData", "TimeoutsOverCalls",
        "SharingResources", "WatchingForDeadlock", "ProgressOfFoundation",
    ])
    func `an article shows the code that its test runs`(article: String) throws {
        let shown = try PackageDocument("\(Self.catalog)/\(article).md").blocks.filter { $0.language == "swift" }
        let run = try Self.marked(article)
        #expect(!run.isEmpty)
        #expect(shown.map(\.text) == run)
    }

    @Test func `the overview and the README begin as the first article does`() throws {
        let run = try Self.marked("FirstSteps")
        for (page, count) in [("\(Self.catalog)/AsyncOperations.md", 1), ("README.md", 2)] {
            let shown = try PackageDocument(page).blocks.filter { $0.language == "swift" }
            #expect(shown.map(\.text) == [run.prefix(count).joined(separator: "\n")], "\(page)")
        }
    }

    @Test func `the crawler takes at most fifteen lines`() throws {
        let crawler = try #require(try Self.marked("FirstSteps").last)
        #expect(crawler.contains("crawl"))
        #expect(crawler.split(separator: "\n").count <= 15)
    }

    /// What stands between the markers of an article, without its indentation.
    private static func marked(_ article: String) throws -> [String] {
        var blocks: [String] = []
        var open: String?
        for line in try PackageDocument("\(tests)/Articles/ArticleTests.swift").lines {
            let text = line.drop { $0 == " " }
            if text == "// BEGIN \(article)" {
                open = ""
            } else if text == "// END \(article)" {
                blocks.append(open ?? "")
                open = nil
            } else {
                open? += line.dropFirst(8) + "\n"
            }
        }
        return blocks
    }

    @Test func `each test in the table of cases exists and says which case it proves`() throws {
        let proofs = (
            library: try Self.proofs(in: Self.tests, Self.schedulerTests),
            program: try Self.proofs(in: Self.programTests)
        )
        var count = 0
        var unproved: Set<String> = []
        for line in try PackageDocument("\(Self.catalog)/ConformanceCases.md").lines {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 6, let match = cells[1].wholeMatch(of: /\ ([A-Z][0-9]+)\ /) else { continue }
            count += 1
            let id = String(match.1)
            for (cell, known) in [(cells[3], proofs.library), (cells[4], proofs.program)] {
                for name in Self.names(in: cell) { #expect(known[id]?.contains(name) == true, "\(id): \(name)") }
            }
            if Self.names(in: cells[3]).isEmpty, Self.names(in: cells[4]).isEmpty { unproved.insert(id) }
        }
        #expect(count == 146)
        // The compiler proves the one, the other is not there yet.
        #expect(unproved == ["A6", "F20"])
    }

    private static func names(in cell: Substring) -> [String] {
        cell.split(separator: " · ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// The names of tests by the cases in the comment above them.
    private static func proofs(in folders: String...) throws -> [String: Set<String>] {
        var proofs: [String: Set<String>] = [:]
        let files = try folders.flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: "\(PackageFolder.path)/\(folder)")
                .map { URL(filePath: "\(PackageFolder.path)/\(folder)/\($0)") }
        }
        for file in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            let test = /\/\/\ ([A-Z][0-9]+(?:,\ [A-Z][0-9]+)*)\n\s*@Test.*?func\ `(.*?)`/.dotMatchesNewlines()
            for match in text.matches(of: test) {
                for id in match.1.split(separator: ", ") { proofs[String(id), default: []].insert(String(match.2)) }
            }
        }
        return proofs
    }
}
