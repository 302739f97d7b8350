import FlowrunTestSupport
import Foundation

/// The text files of the package: what is written by hand and lies under version control.
enum PackageText {
    private static let places = [
        "Sources", "Packages", "Tests", "man", "schema", "examples", ".ci", "README.md", "CONTRIBUTING.md",
        "CHANGELOG.md",
        "Makefile", "Package.swift",
    ]
    /// What examples and scripts leave beside their sources.
    private static let made: Set = ["build", ".build", ".flowrun", "__pycache__"]

    /// Relative to the package's folder, sorted.
    static let paths: [String] = {
        let manager = FileManager.default
        return places.flatMap { place in
            (manager.enumerator(atPath: "\(PackageFolder.path)/\(place)")?.compactMap { $0 as? String } ?? [])
                .filter { path in made.isDisjoint(with: path.split(separator: "/").map(String.init)) }
                .map { "\(place)/\($0)" } + [place]
        }
        .filter { path in
            var isFolder: ObjCBool = false
            return manager.fileExists(atPath: "\(PackageFolder.path)/\(path)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }
        .sorted()
    }()

    /// The lines of a file that a pattern is found in, as `path:line: text`.
    static func lines(of path: String, matching pattern: Regex<some Any>) throws -> [String] {
        let text = try String(contentsOfFile: "\(PackageFolder.path)/\(path)", encoding: .utf8)
        guard text.contains(pattern) else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            line.contains(pattern) ? "\(path):\(index + 1): \(line)" : nil
        }
    }
}
