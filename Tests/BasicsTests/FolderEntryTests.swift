import Basics
import FlowrunTestSupport
import Glibc
import Testing

struct FolderEntryTests {
    @Test func `every name in a folder comes once, whatever it is made of`() throws {
        let test = try FlowrunTest(files: ["file": "", "folder/inner": ""])
        let hostile: [CChar] = Array("\(test.folder)/".utf8CString.dropLast()) + [-1, 0x0A, 0]
        mkdir(hostile, 0o700)
        symlink("nowhere", test.path("link"))
        let stream = try #require(opendir(test.folder))
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = try FolderEntry.next(in: stream) {
            names.append((0..<strlen(entry.name)).map { UInt8(bitPattern: entry.name[$0]) })
        }
        #expect(names.count == 6)
        #expect(Set(names) == Set([".", "..", "file", "folder", "link"].map { Array($0.utf8) } + [[0xFF, 0x0A]]))
    }

    @Test func `an error is not the end of the folder`() throws {
        let test = try FlowrunTest(files: ["a": ""])
        let stream = try #require(opendir(test.folder))
        defer { closedir(stream) }
        // What is no folder stands in its place.
        let file = open(test.path("a"), O_RDONLY | O_CLOEXEC)
        #expect(dup2(file, dirfd(stream)) >= 0)
        close(file)
        #expect(throws: SystemError(ENOTDIR)) { try FolderEntry.next(in: stream)?.kind }
    }
}
