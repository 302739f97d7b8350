import FlowrunTestSupport
import Glibc
import Testing

@testable import WorkflowExecution

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

    @Test func `patterns reach files in folders, each once and in the order of their names`() throws {
        let test = try FlowrunTest(
            files: ["a.c": "", "b.h": "", "lib/x.c": "", "lib/deep/y.c": "", "lib/deep/z.txt": "", ".hidden/h.c": ""])
        func files(_ pattern: String) -> [String] { FilePattern(pattern).files(in: test.folder) }
        #expect(files("*.c") == ["a.c"])
        #expect(files("**/*.c") == [".hidden/h.c", "a.c", "lib/deep/y.c", "lib/x.c"])
        #expect(files("lib/**") == ["lib/deep/y.c", "lib/deep/z.txt", "lib/x.c"])
        #expect(files("lib/*/[yz].*") == ["lib/deep/y.c", "lib/deep/z.txt"])
        #expect(files("./a.?") == ["a.c"])
        #expect(files("nothing/*").isEmpty)
    }

    @Test func `patterns may lead out of the folder, and links are files where they lead to one`() throws {
        let test = try FlowrunTest(files: ["in/a.c": "", "in/.flowrun/x.c": "", "out/b.c": "", "out/c.h": ""])
        symlink("../out/b.c", test.path("in/link.c"))
        symlink("../out", test.path("in/folder.c"))
        symlink("nowhere", test.path("in/broken.c"))
        mkfifo(test.path("in/pipe.c"), 0o600)
        func files(_ pattern: String) -> [String] { FilePattern(pattern).files(in: test.path("in")) }
        #expect(files("**") == ["a.c", "link.c"])
        #expect(files("**/**/*.c") == ["a.c", "link.c"])
        #expect(files("../out/*.c") == ["../out/b.c"])
        #expect(files("folder.c/*.h") == ["folder.c/c.h"])
        #expect(files(test.path("out/*")) == [test.path("out/b.c"), test.path("out/c.h")])
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
}
