import FlowrunTestSupport
import Foundation
import Testing

/// What the package says stands on its own: whoever has a clone has all that its comments refer to.
struct ReferenceTests {
    @Test func `no file refers to a page outside of the package`() throws {
        // Folders, pages and numberings that exist only where flowrun was designed.
        let outside =
            #/
            \b(?:research|shared)/ | \bDESIGN\b | \b(?:seeds|features|reliability|ecosystem|performance|aesthetics)\.md
            | \breliability\ F\d | \bdesign's\ invariants
            /#
        let found = try PackageText.paths.filter { !$0.hasSuffix("/ReferenceTests.swift") }
            .flatMap { try PackageText.lines(of: $0, matching: outside) }
        #expect(found == [])
    }

    @Test func `an article that a comment names exists`() throws {
        let named = #/<doc:(\w+)>|\w+\.docc/(\w+)/#
        let articles = Set(
            PackageText.paths.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }
                .map { URL(filePath: $0).deletingPathExtension().lastPathComponent })
        for path in PackageText.paths where [".swift", ".c", ".h", ".py"].contains(where: path.hasSuffix) {
            for match in try PackageDocument(path).text.matches(of: named) {
                #expect(articles.contains(String(match.1 ?? match.2 ?? "")), "\(path): \(match.0)")
            }
        }
    }
}
