import Foundation

/// The program under test.
package enum FlowrunBinary {
    /// Beside the test bundle, where the package manager puts every product of a build; `FLOWRUN_TEST_BINARY` in the
    /// environment names another one, such as a release build.
    package static let path: String = {
        if let named = ProcessInfo.processInfo.environment["FLOWRUN_TEST_BINARY"] {
            return URL(filePath: named).standardizedFileURL.path
        }
        // The tests run inside the bundle, or inside a helper that is told the bundle's path.
        let bundles = CommandLine.arguments.filter { $0.contains(".xctest") }
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let candidates = ([executable] + bundles).map { place in
            URL(filePath: place).deletingLastPathComponent().appending(path: "flowrun").standardizedFileURL.path
        }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? candidates[0]
    }()
}

/// The package's own folder, for tests of its scripts, schemas and examples.
package enum PackageFolder {
    package static let path: String = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}
