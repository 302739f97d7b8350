import FlowrunTestSupport
import Glibc
import Testing
import Workflow

@testable import Running

/// `hashFiles`.
struct FileHashTests {
    /// From FIPS 180-4 and its test vectors; the lengths stand around the ends of blocks.
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func `the hash is SHA-256`(text: String, digest: String) {
        var hash = SHA256()
        hash.update(text)
        #expect(hash.finish() == digest)
    }

    @Test func `a hash does not depend on how its bytes are cut`() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        for cut in [0, 1, 55, 56, 63, 64, 65, 119, 128, 299] {
            var (whole, pieces) = (SHA256(), SHA256())
            bytes.withUnsafeBytes { bytes in
                whole.update(bytes)
                pieces.update(UnsafeRawBufferPointer(rebasing: bytes[..<cut]))
                pieces.update(UnsafeRawBufferPointer(rebasing: bytes[cut...]))
            }
            #expect(whole.finish() == pieces.finish())
        }
    }

    private func names(_ pattern: String, in folder: String) throws -> [String] {
        try FilePattern(pattern).files(in: folder).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `patterns reach files in folders, each once and in the order of their names`() throws {
        let test = try FlowrunTest(
            files: ["a.c": "", "b.h": "", "lib/x.c": "", "lib/deep/y.c": "", "lib/deep/z.txt": "", ".hidden/h.c": ""])
        func files(_ pattern: String) throws -> [String] { try names(pattern, in: test.folder) }
        #expect(try files("*.c") == ["a.c"])
        #expect(try files("**/*.c") == [".hidden/h.c", "a.c", "lib/deep/y.c", "lib/x.c"])
        #expect(try files("lib/**") == ["lib/deep/y.c", "lib/deep/z.txt", "lib/x.c"])
        #expect(try files("lib/*/[yz].*") == ["lib/deep/y.c", "lib/deep/z.txt"])
        #expect(try files("./a.?") == ["a.c"])
        #expect(try files("nothing/*").isEmpty)
    }

    private func list(_ patterns: String..., in folder: String) throws -> [String] {
        guard case .list(let paths)? = try FileQuestion.list(patterns).answer(in: folder, isGivenUp: { false }) else {
            return ["not a list"]
        }
        return paths.map(\.text)
    }

    @Test func `a list has what the patterns match, hidden names only where they say so`() throws {
        let test = try FlowrunTest(
            files: [
                "a.c": "", "b.h": "", "B.c": "", "lib/x.c": "", "lib/deep/y.c": "", ".hidden/h.c": "", "lib/.h.c": "",
                ".flowrun/x.c": "",
            ])
        #expect(try list("*.c", in: test.folder) == ["B.c", "a.c"])
        #expect(try list("**/*.c", in: test.folder) == ["B.c", "a.c", "lib/deep/y.c", "lib/x.c"])
        #expect(try list("*.c", "a.*", "*.h", in: test.folder) == ["B.c", "a.c", "b.h"])
        #expect(try list(".*/*.c", in: test.folder) == [".hidden/h.c"])
        #expect(try list("lib/.*.c", in: test.folder) == ["lib/.h.c"])
        #expect(try list(".hidden/**", in: test.folder) == [".hidden/h.c"])
        #expect(try list("*/", "**/", in: test.folder) == ["lib", "lib/deep"])
        #expect(try list("lib/deep/", in: test.folder) == ["lib/deep"])
        #expect(try list("none*", "none/", in: test.folder) == [])
        #expect(try list("\(test.folder)/a.c", in: "/nowhere") == [test.path("a.c")])
    }

    @Test func `a name that is not UTF-8 cannot be listed`() throws {
        let test = try FlowrunTest()
        let path: [CChar] = Array(test.folder.utf8CString.dropLast()) + [0x2F, -1, 0]
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        let error = #expect(throws: FileHash.ReadError.self) { try list("*", in: test.folder) }
        #expect(error?.reason == "its name is not UTF-8")
    }

    @Test func `patterns may lead out of the folder, and links are files where they lead to one`() throws {
        let test = try FlowrunTest(files: ["in/a.c": "", "in/.flowrun/x.c": "", "out/b.c": "", "out/c.h": ""])
        symlink("../out/b.c", test.path("in/link.c"))
        symlink("../out", test.path("in/folder.c"))
        symlink("nowhere", test.path("in/broken.c"))
        mkfifo(test.path("in/pipe.c"), 0o600)
        func files(_ pattern: String) throws -> [String] { try names(pattern, in: test.path("in")) }
        #expect(try files("**") == ["a.c", "link.c"])
        #expect(try files("**/**/*.c") == ["a.c", "link.c"])
        #expect(try files("../out/*.c") == ["../out/b.c"])
        #expect(try files("folder.c/*.h") == ["folder.c/c.h"])
        #expect(try files(test.path("out/*")) == [test.path("out/b.c"), test.path("out/c.h")])
        let hash = try FileHash.hash([test.path("out/*")], in: "/nowhere")
        #expect(hash?.count == 64)
    }

    @Test func `names and contents make the hash, and no match is the empty text`() throws {
        let one = try FlowrunTest(files: ["a": "1", "b": "2"])
        let same = try FlowrunTest(files: ["a": "1", "b": "2"])
        let swapped = try FlowrunTest(files: ["a": "2", "b": "1"])
        let hash = try FileHash.hash(["*"], in: one.folder)
        #expect(hash?.count == 64)
        #expect(try FileHash.hash(["a", "b", "*"], in: same.folder) == hash)
        #expect(try FileHash.hash(["*"], in: swapped.folder) != hash)
        #expect(try FileHash.hash(["*.none"], in: one.folder) == "")
    }

    @Test func `a name that is not UTF-8 is a name like any other`() throws {
        let test = try FlowrunTest(files: ["b": "2", "folder/x": "3"])
        let name = Array(test.path("a").utf8) + [0xff]
        _ = name.withCString { close(open($0, O_CREAT | O_WRONLY, 0o600)) }
        let folder = Array(test.path("d").utf8) + [0xfe]
        _ = folder.withCString { rename(test.path("folder"), $0) }
        let files = try FilePattern("**").files(in: test.folder)
        #expect(files == [Array("a".utf8) + [0xff], Array("b".utf8), Array("d".utf8) + [0xfe] + Array("/x".utf8)])
        #expect(try FilePattern("a?").files(in: test.folder).count == 1)
        #expect(try FileHash.hash(["**"], in: test.folder) != FileHash.hash(["b"], in: test.folder))
        _ = name.withCString { unlink($0) }
        #expect(try FileHash.hash(["**"], in: test.folder) == FileHash.hash(["b", "d*/x"], in: test.folder))
        // Foundation, which removes the test's folder, cannot name it.
        _ = folder.withCString { rename($0, test.path("d")) }
    }

    @Test func `a folder that cannot be read is an error, not an empty one`() throws {
        let test = try FlowrunTest(files: ["a": "1"])
        // Folders in folders beyond the longest path there may be, which nobody can open by their path, root included.
        let name = String(repeating: "x", count: 250)
        var folders = [open(test.folder, O_RDONLY | O_DIRECTORY)]
        for _ in 0..<20 {
            mkdirat(folders[folders.count - 1], name, 0o700)
            folders.append(openat(folders[folders.count - 1], name, O_RDONLY | O_DIRECTORY))
        }
        defer {
            close(folders.removeLast())
            while let parent = folders.popLast() {
                unlinkat(parent, name, Int32(AT_REMOVEDIR))
                close(parent)
            }
        }
        for pattern in ["**", "**/*.c"] {
            let error = #expect(throws: FileHash.ReadError.self) { try FileHash.hash([pattern], in: test.folder) }
            #expect(error?.reason == "file name too long")
        }
        #expect(throws: FileHash.ReadError.self) { try FileHash.hash(["\(name)\(name)"], in: test.folder) }
        #expect(try FileHash.hash(["none/*", "a/*", "none"], in: test.folder) == "")
        #expect(try FileHash.hash(["*"], in: test.path("none")) == "")
    }
}
