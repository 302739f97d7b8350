import Foundation
import Glibc
import Synchronization
import Testing

extension FlowrunTest {
    /// The compiled programs by their sources, open for reading; the files themselves are gone.
    private static let compiled = Mutex<[String: FileHandle]>([:])

    /// Puts a program of `Tests/Scripts` into the test's folder; each is compiled once.
    func addProgram(_ name: String, from source: String) throws {
        let program = try Self.compiled.withLock { compiled throws -> FileHandle in
            if let known = compiled[source] { return known }
            let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            try Self.run("cc", "-pthread", "-o", path(name), scripts.appending(path: "Scripts/\(source)").path)
            let program = try FileHandle(forReadingFrom: URL(filePath: path(name)))
            try FileManager.default.removeItem(atPath: path(name))
            compiled[source] = program
            return program
        }
        // Written by another process: of this one, a child that another test is about to start may have the file open
        // for writing, and then it cannot be executed.
        try Self.run("cp", "/proc/\(getpid())/fd/\(program.fileDescriptor)", path(name))
    }

    private static func run(_ words: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(words)")
    }

    /// The command that starts the program with its clock set forward by so many seconds, or back.
    package func clock(setBy seconds: Int) throws -> [String] {
        if !exists("clockshift") { try addProgram("clockshift", from: "clockshift.c") }
        return [path("clockshift"), "\(seconds)"]
    }
}
