import Foundation

/// The program under test.
package enum FlowrunBinary {
    /// Of this build; `FLOWRUN_TEST_BINARY` in the environment names another one, such as a release build.
    package static let path: String = {
        if let named = ProcessInfo.processInfo.environment["FLOWRUN_TEST_BINARY"] {
            return URL(filePath: named).standardizedFileURL.path
        }
        return "\(BuildFolder.path)/flowrun"
    }()
}

/// Where the package manager has put every product of this build.
package enum BuildFolder {
    package static let path: String = {
        // The tests run inside the bundle, or inside a helper that is told the bundle's path.
        let bundles = CommandLine.arguments.filter { $0.contains(".xctest") }
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let candidates = ([executable] + bundles).map { place in
            URL(filePath: place).deletingLastPathComponent().standardizedFileURL.path
        }
        return candidates.first { FileManager.default.isExecutableFile(atPath: "\($0)/flowrun") } ?? candidates[0]
    }()
}

/// The package's own folder, for tests of its scripts, schemas and examples.
package enum PackageFolder {
    package static let path: String = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}
