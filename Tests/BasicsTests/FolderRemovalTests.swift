import Basics
import FlowrunTestSupport
import Glibc
import Testing

struct FolderRemovalTests {
    private let test: FlowrunTest
    private let root: String

    init() throws {
        test = try FlowrunTest()
        root = test.path("root")
        mkdir(root, 0o700)
    }

    @Test func `everything goes, whatever it is called and whatever its permissions are`() throws {
        let hostile: [CChar] = Array(root.utf8CString.dropLast()) + [0x2F, -1, 0x0A, 0]
        mkdir(hostile, 0o700)
        for name in ["a", "a/b", "a/b/c", ".removed-1", ".removed-1/x", "closed", "closed/in"] {
            #expect(mkdir("\(root)/\(name)", 0o700) == 0)
        }
        for name in ["a/file", "a/b/file", "a/b/c/file", ".removed-1/x/file", "closed/in/file"] {
            try test.write("text", to: "root/\(name)")
        }
        mkfifo("\(root)/fifo", 0o600)
        for name in ["a/b/c", "a/b", "closed/in", "closed"] { chmod("\(root)/\(name)", 0o500) }
        chmod("\(root)/closed", 0)
        try FolderRemoval.remove(root)
        #expect(!test.exists("root"))
    }

    @Test func `a link goes, what it points to stays`() throws {
        try test.write("text", to: "kept/file")
        symlink(test.path("kept"), "\(root)/link")
        symlink("nowhere", "\(root)/dangling")
        try FolderRemoval.remove(root)
        #expect(!test.exists("root"))
        #expect(try test.contents(of: "kept/file") == "text")
    }

    @Test func `a folder goes that is deeper than any path`() throws {
        var folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for _ in 0..<5000 {
            mkdirat(folder, "d", 0o700)
            mkdirat(folder, "e", 0o700)
            let next = openat(folder, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            close(folder)
            folder = next
        }
        close(folder)
        try FolderRemoval.remove(root)
        #expect(!test.exists("root"))
    }

    @Test func `a folder that is not there is an error`() {
        #expect(throws: SystemError(ENOENT)) { try FolderRemoval.remove(test.path("missing")) }
        #expect(throws: SystemError(ENOTDIR)) {
            try test.write("", to: "file")
            try FolderRemoval.remove(test.path("file"))
        }
    }
}
