import FlowrunTestSupport
import Foundation
import Testing

/// The catalogs of the program and of the library.
struct CatalogTests {
    enum Catalog: String, CaseIterable, Sendable {
        case flowrun = "Sources/FlowrunCommands/Flowrun.docc"
        case asyncOperations = "Sources/AsyncOperations/AsyncOperations.docc"

        var landingPage: String { self == .flowrun ? "Flowrun" : "AsyncOperations" }

        /// Names of all pages, the landing page included.
        var pages: [String] {
            get throws {
                try FileManager.default.contentsOfDirectory(atPath: "\(PackageFolder.path)/\(rawValue)")
                    .filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }
            }
        }

        func links(of page: String) throws -> Set<String> {
            let text = try PackageDocument("\(rawValue)/\(page).md").text
            return Set(text.matches(of: #/<doc:(\w+)>/#).map { String($0.1) })
        }
    }

    @Test(arguments: Catalog.allCases)
    func `the landing page names every page`(catalog: Catalog) throws {
        let links = try catalog.links(of: catalog.landingPage)
        for page in try catalog.pages where page != catalog.landingPage { #expect(links.contains(page), "\(page)") }
    }

    @Test(arguments: Catalog.allCases)
    func `a page that another one names exists`(catalog: Catalog) throws {
        let pages = Set(try catalog.pages)
        for page in pages {
            let missing = try catalog.links(of: page).subtracting(pages)
            #expect(missing.isEmpty, "\(page) names \(missing.sorted())")
        }
    }

    @Test func `every failure mode has a test that exists, or the reason why it has none`() throws {
        let text = try PackageDocument("\(Catalog.flowrun.rawValue)/FailureModes.md").text
        let tests = try PackageText.paths.filter { $0.contains("Tests/") && $0.hasSuffix(".swift") }
            .map { try PackageDocument($0).text }.joined()
        let rows = text.matches(of: #/\| F(\d\d) \| [^|]+ \| ([^|]+) \|/#)
        #expect(rows.compactMap { Int($0.1) } == Array(1...54))
        for row in rows {
            let names = row.2.matches(of: #/`([^`]+)`/#).map(\.1)
            #expect(!names.isEmpty || row.2.hasPrefix("none: "), "F\(row.1)")
            for name in names { #expect(tests.contains("func `\(name)`"), "F\(row.1): \(name)") }
        }
    }

    @Test func `the page about the architecture names every target, and only functions that exist`() throws {
        let page = try PackageDocument("\(Catalog.flowrun.rawValue)/Architecture.md").text
        let targets = PackageText.paths.compactMap { path in
            path.hasPrefix("Sources/") ? path.split(separator: "/").dropFirst().first.map(String.init) : nil
        }
        for target in Set(targets) { #expect(page.contains("`\(target)`"), "\(target)") }
        let sources = try PackageText.paths.filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }
            .map { try PackageDocument($0).text }
        let functions = page.matches(of: #/`([A-Z]\w+)\.([a-z]\w+)(?:\((\w+):.*\))?`/#)
            .filter { $0.2 != "swift" }
        #expect(functions.count >= 15)
        for function in functions {
            let words = function.3.map { "func \(function.2)(\($0)" } ?? "func \(function.2)("
            let declared = sources.contains { text in
                text.contains(words)
                    && !text.matches(of: try! Regex("(extension|struct|class|enum|protocol) \(function.1)\\b")).isEmpty
            }
            #expect(declared, "\(function.0)")
        }
    }

    /// Names of tests stand in code marks behind a dash, as proofs of what was said.
    @Test(arguments: ["\(Catalog.flowrun.rawValue)/FailureModes.md", "SECURITY.md"])
    func `a test that a page names as a proof exists`(page: String) throws {
        let text = try PackageDocument(page).text.replacing("\n", with: " ")
        let tests = try PackageText.paths.filter { $0.contains("Tests/") && $0.hasSuffix(".swift") }
            .map { try PackageDocument($0).text }.joined()
        var count = 0
        for proof in text.matches(of: #/—\ (.*?)(?:\*\*|\#\#|$)/#) {
            for name in proof.1.matches(of: #/`([^`]+)`/#) where !name.1.contains("/") {
                count += 1
                #expect(tests.contains("func `\(name.1)`") || tests.contains("struct \(name.1)"), "\(name.1)")
            }
        }
        #expect(count >= 15)
    }
}
