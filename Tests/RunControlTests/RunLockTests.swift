import FlowrunTestSupport
import Foundation
import RunControl
import Testing

/// One run of a workflow at a time.
@Suite struct RunLockTests {
    @Test func `a second lock of the same name is refused and names the holder`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let first = try RunLock(of: "w.yml", in: directory, run: "20260101T000000-aaaaaa")
        #expect(first.previous == nil)
        let error = #expect(throws: RunLockError.self) {
            try RunLock(of: "w.yml", in: directory, run: "20260101T000001-bbbbbb")
        }
        #expect(error == .held(by: RunLock.holder(of: "w.yml", in: directory)))
        #expect(RunLock.holder(of: "w.yml", in: directory)?.run == "20260101T000000-aaaaaa")
        #expect(RunLock.holder(of: "w.yml", in: directory)?.pid == getpid())
        withExtendedLifetime(first) {}
    }

    @Test func `another name is another lock`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let locks = try ["a.yml", "b.yml"].map { try RunLock(of: $0, in: directory, run: $0) }
        #expect(RunLock.holder(of: "b.yml", in: directory)?.run == "b.yml")
        withExtendedLifetime(locks) {}
    }

    @Test func `a lock that was let go is free, and tells who had it`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        for (run, before) in [("a-long-name-of-a-run", nil), ("short", "a-long-name-of-a-run"), ("last", "short")] {
            let lock = try RunLock(of: "w.yml", in: directory, run: run)
            #expect(lock.previous?.run == before)
        }
        #expect(RunLock.holder(of: "w.yml", in: directory)?.run == "last")
    }

    @Test func `a lock is no link to a file somewhere else`() throws {
        let test = try FlowrunTest(files: ["precious": "keep\n"])
        let directory = try StateDirectory.made(test.path("state"))
        try FileManager.default.createSymbolicLink(
            atPath: test.path("state/w.yml.lock"), withDestinationPath: test.path("precious"))
        let error = #expect(throws: RunLockError.self) { try RunLock(of: "w.yml", in: directory, run: "r") }
        #expect(error == .unusable(errno: ELOOP))
        #expect(try test.contents(of: "precious") == "keep\n")
    }
}
