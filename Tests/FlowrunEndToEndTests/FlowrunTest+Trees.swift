import FlowrunTestSupport
import Foundation
import Testing

extension FlowrunTest {
    /// A folder with a git work tree: a tracked file that is changed, one that is removed, an untracked one, and one
    /// that is ignored.
    static func repository(_ workflow: String, in folder: String = ".") throws -> FlowrunTest {
        let test = try FlowrunTest(files: [
            "tracked": "1\n", "removed": "", ".gitignore": "ignored\nout/\n.flowrun\n", "ignored": "", "a b/c": "inner",
            "\(folder)/workflow.yml": "version: 1\nsteps:\n" + workflow,
        ])
        try test.git("init", "-q")
        try test.git("add", "-A")
        try test.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "first")
        try FileManager.default.removeItem(atPath: test.path("removed"))
        try test.write("2\n", to: "tracked")
        try test.write("", to: "untracked")
        return test
    }

    /// The names of the copies of the tree that are there.
    var treeCopies: [String] {
        get throws {
            let runs = (try? FileManager.default.contentsOfDirectory(atPath: path(".flowrun/trees"))) ?? []
            return try runs.flatMap { run in
                try FileManager.default.contentsOfDirectory(atPath: path(".flowrun/trees/\(run)"))
            }
        }
    }

    /// Runs git in the folder. Fails if git does.
    @discardableResult
    func git(_ words: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "-C", folder] + words
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return String(decoding: output, as: UTF8.self)
    }
}
