import Basics
import FlowrunTestSupport
import Glibc
import Testing

struct ResolvedPathTests {
    @Test func `a file that is to be made stands where its links lead`() throws {
        let test = try FlowrunTest(files: ["a/b/x": ""])
        let root = try #require(resolvedPath(test.path("")))
        for (name, target) in [
            ("a/near", "new"), ("a/down", "b/new"), ("up", "a/down"), ("whole", test.path("a/near")), ("loop", "loop"),
            ("lost", "nowhere/new"),
        ] {
            #expect(symlink(target, test.path(name)) == 0)
        }
        for (name, end) in [
            ("new", "new"), ("a/b/x", "a/b/x"), ("a/near", "a/new"), ("a/down", "a/b/new"), ("up", "a/b/new"),
            ("whole", "a/new"),
        ] {
            #expect(writtenPath(test.path(name)) == "\(root)/\(end)", "\(name)")
        }
        #expect(writtenPath(test.path("loop")) == nil)
        #expect(writtenPath(test.path("lost")) == nil)
        #expect(resolvedPath(test.path("new")) == nil)
    }
}
