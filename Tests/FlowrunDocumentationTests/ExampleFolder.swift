import FlowrunTestSupport
import Foundation

/// The package's `examples`.
enum ExampleFolder {
    /// All files but what the examples build and what runs of them have left, relative to the folder, sorted.
    static let files: [String] = {
        let folder = "\(PackageFolder.path)/examples"
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return paths.sorted().filter { path in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder)
            return exists && !isFolder.boolValue && !path.contains("/build/") && !path.contains(".build/")
                && !path.contains(".flowrun/")
        }
    }()

    static let workflows: [String] = files.filter { $0.hasSuffix(".yml") }

    /// A test folder with a copy of the examples in `examples`, for runs that write.
    static func copy() throws -> FlowrunTest {
        let test = try FlowrunTest()
        for file in files {
            let bytes = try Data(contentsOf: URL(filePath: "\(PackageFolder.path)/examples/\(file)"))
            try test.write(Array(bytes), to: "examples/\(file)")
        }
        return test
    }
}
