import Foundation
import Synchronization

extension FlowrunTest {
    private static let compiled = Mutex<[String: [UInt8]]>([:])

    /// Puts a program of `Tests/Scripts` into the test's folder; each is compiled once.
    func addProgram(_ name: String, from source: String) throws {
        let program = try Self.compiled.withLock { compiled throws -> [UInt8] in
            if let known = compiled[source] { return known }
            let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let compiler = Process()
            compiler.executableURL = URL(filePath: "/usr/bin/env")
            let text = scripts.appending(path: "Scripts/\(source)").path
            compiler.arguments = ["cc", "-pthread", "-o", path(name), text]
            try compiler.run()
            compiler.waitUntilExit()
            let bytes = Array(try Data(contentsOf: URL(filePath: path(name))))
            compiled[source] = bytes
            return bytes
        }
        try write(program, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path(name))
    }

    /// The command that starts the program with its clock set forward by so many seconds, or back.
    package func clock(setBy seconds: Int) throws -> [String] {
        if !exists("clockshift") { try addProgram("clockshift", from: "clockshift.c") }
        return [path("clockshift"), "\(seconds)"]
    }
}
