import Foundation
import Glibc
import Syntax
import Testing

struct `Reading a file` {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

    private func withFolder(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body()
    }

    @Test func `gives its bytes under the name it was asked by`() throws {
        try withFolder {
            let text = String(repeating: "ü\n", count: 100_000)
            try text.write(toFile: folder + "/a.yml", atomically: false, encoding: .utf8)
            let (file, diagnostic) = SourceFile.read(folder + "/a.yml")
            #expect(diagnostic == nil)
            #expect(file.bytes == Array(text.utf8))
            #expect(file.name == folder + "/a.yml")
        }
    }

    @Test func `says what it found in place of a file, and waits for nobody`() throws {
        try withFolder {
            #expect(mkfifo(folder + "/fifo", 0o600) == 0)
            #expect(symlink("loop", folder + "/loop") == 0)
            #expect(FileManager.default.createFile(atPath: folder + "/large", contents: nil))
            #expect(truncate(folder + "/large", 70 << 20) == 0)
            func message(_ path: String) -> String {
                let (file, diagnostic) = SourceFile.read(path)
                #expect(file.bytes.isEmpty)
                return diagnostic.map { "\($0.code.rawValue) \($0.message)" } ?? "none"
            }
            #expect(message(folder + "/none.yml") == "FR0101 there is no such file")
            #expect(message(folder) == "FR0101 this is a directory, expected a workflow file")
            let other = "FR0101 this is neither a file nor a directory, expected a workflow file"
            #expect(message(folder + "/fifo") == other)
            #expect(message("/dev/zero") == other)
            #expect(message(folder + "/loop").hasPrefix("FR0101 cannot open the file: "))
            #expect(message(folder + "/large") == "FR0102 the file has 70 MiB, at most 64 MiB are read")
        }
    }

    @Test func `that lies about its size still gives all of it`() {
        // Files of procfs say that they hold nothing.
        let (file, diagnostic) = SourceFile.read("/proc/self/status")
        #expect(diagnostic == nil)
        #expect(file.bytes.starts(with: "Name:".utf8))
    }
}
