import Glibc
import Testing

@testable import Processes

@Suite struct ProgramSearchTests {
    private func find(_ name: String, _ path: String?, from folder: String? = nil) throws(SpawnError) -> String {
        try findProgram(name, along: path, from: folder)
    }

    @Test func `a program is found along the given path, a folder or a plain file is not one`() throws {
        #expect(try find("sh", "/nowhere:/bin") == "/bin/sh")
        #expect(try find("./x", nil) == "./x")
        #expect(throws: SpawnError.self) { try find("no-such-program-here", "/bin") }
        let refused = #expect(throws: SpawnError.self) { try find("passwd", "/etc") }
        #expect(refused?.errno == EACCES)
        let folder = #expect(throws: SpawnError.self) { try find("bin", "/usr") }
        #expect(folder?.errno == ENOENT)
        let nameless = #expect(throws: SpawnError.self) { try find("", "/bin") }
        #expect(nameless?.errno == ENOENT)
    }

    @Test func `the first folder that has it counts, and each search looks anew`() throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let path = first.path + ":" + second.path
        let later = try second.file("tool", "#!/bin/sh\n", mode: 0o755)
        #expect(try find("tool", path) == later)
        let plain = try first.file("tool", "#!/bin/sh\n", mode: 0o644)
        #expect(try find("tool", path) == later)
        #expect(chmod(plain, 0o755) == 0)
        #expect(try find("tool", path) == plain)
        unlink(plain)
        unlink(later)
        #expect(throws: SpawnError.self) { try find("tool", path) }
    }

    @Test(arguments: [
        ("sub", "sub/tool"), ("/nowhere:sub", "sub/tool"), ("./sub/:/bin", "./sub//tool"), (":/bin", "./tool"),
        ("/bin::/usr/bin", "./tool"), ("/bin:", "./tool"), ("", "./tool"),
    ])
    func `a relative part counts from the working directory, an empty one is the working directory`(
        path: String, found: String
    ) throws {
        let folder = try TemporaryFolder()
        #expect(mkdir(folder.path + "/sub", 0o700) == 0)
        for name in ["sub/tool", "tool"] { _ = try folder.file(name, "#!/bin/sh\n", mode: 0o755) }
        #expect(try find("tool", path, from: folder.path) == found)
        #expect(throws: SpawnError.self) { try find("tool", path, from: "/") }
    }
}
