import FlowrunTestSupport
import Foundation
import Testing

@testable import FlowrunCommands

/// One run of a workflow at a time.
@Suite struct RunLockTests {
    private func take(_ name: String = "w.yml", in directory: StateDirectory, run: String) throws -> RunLock {
        let lock = try RunLock(of: name, in: directory)
        lock.enter(RunLock.Holder(pid: getpid(), run: run))
        return lock
    }

    @Test func `a second lock of the same name is refused and names the holder`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let first = try take(in: directory, run: "20260101T000000-aaaaaa")
        #expect(first.previous == nil)
        let error = #expect(throws: RunLockError.self) {
            try RunLock(of: "w.yml", in: directory)
        }
        #expect(error == .held(by: RunLock.holder(of: "w.yml", in: directory)))
        #expect(RunLock.holder(of: "w.yml", in: directory)?.run == "20260101T000000-aaaaaa")
        #expect(RunLock.holder(of: "w.yml", in: directory)?.pid == getpid())
        withExtendedLifetime(first) {}
    }

    @Test func `another name is another lock`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let runs = ["a.yml": "20260101T000000-aaaaaa", "b.yml": "20260101T000000-bbbbbb"]
        let locks = try runs.map { try take($0.key, in: directory, run: $0.value) }
        #expect(RunLock.holder(of: "b.yml", in: directory)?.run == runs["b.yml"])
        withExtendedLifetime(locks) {}
    }

    @Test func `a lock that was let go is free, and tells who had it`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let runs = (0..<3).map { "20260101T00000\($0)-aaaaaa" }
        for (run, before) in [(runs[0], nil), (runs[1], runs[0]), (runs[2], runs[1])] {
            let lock = try take(in: directory, run: run)
            #expect(lock.previous?.run == before)
        }
        #expect(RunLock.holder(of: "w.yml", in: directory)?.run == runs[2])
    }

    @Test(arguments: [
        "1 ../../victim", "1 20260101T000000-aaaaaa/../x", "1 20260101T000000-AAAAAA", "1 20260101T000000-aaaaaaa",
        "1 ", "0 20260101T000000-aaaaaa", "-1 20260101T000000-aaaaaa", "x 20260101T000000-aaaaaa",
        "1 20260101T000000-aaaaaa x", "1 20260101T000000-aaaaaa 3f00000001 endless",
        "1 20260101T000000-aaaaaa 3f00000001 ended x", "1 .", "1 20260101T00000é-aaaaaa",
    ])
    func `what somebody wrote into a lock is no run unless it has the form of one`(text: String) throws {
        let test = try FlowrunTest(files: ["state/w.yml.lock": text + "\n"])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: test.path("state"))
        let directory = try StateDirectory.existing(test.path("state"))
        #expect(RunLock.holder(of: "w.yml", in: directory) == nil)
        #expect(try take(in: directory, run: RunID.make()).previous == nil)
        #expect(RunLock.holder(of: "w.yml", in: directory) != nil)
    }

    @Test func `a lock says by which mark a run is known, whether it has ended, and where its files were`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let runs = (0..<3).map { "20260101T00000\($0)-aaaaaa" }
        let first = RunLock.Holder(pid: getpid(), run: runs[0], mark: 0x3f_1234_5678)
        do {
            let lock = try RunLock(of: "w.yml", in: directory)
            lock.enter(first)
            lock.note(temporaryFolder: "/tmp/a\nb", of: runs[0])
        }
        do {
            // Killed before it has entered, it leaves its findings to the next one.
            #expect(try RunLock(of: "w.yml", in: directory).previous == first)
            let lock = try RunLock(of: "w.yml", in: directory)
            #expect(lock.previous == first && lock.previous?.hasEnded == false)
            #expect(lock.temporaryFolder(of: runs[0]) == "/tmp/a\nb")
            let second = RunLock.Holder(pid: getpid(), run: runs[1], mark: 1)
            lock.enter(second)
            #expect(lock.temporaryFolder(of: runs[1]) == nil)
            lock.end(second)
        }
        let third = try RunLock(of: "w.yml", in: directory)
        #expect(third.previous?.run == runs[1] && third.previous?.hasEnded == true)
        third.enter(RunLock.Holder(pid: getpid(), run: runs[2]))
        third.disown()
        #expect(RunLock.holder(of: "w.yml", in: directory) == third.previous)
    }

    @Test func `a lock says whether a run that did not end by itself had a journal`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let holder = RunLock.Holder(pid: .max, run: "20260101T000000-aaaaaa", mark: 1, keepsJournal: true)
        try RunLock(of: "w.yml", in: directory).enter(holder)
        #expect(RunLock.holder(of: "w.yml", in: directory) == holder)
        // A run that is refused restores it.
        let refused = try RunLock(of: "w.yml", in: directory)
        refused.enter(RunLock.Holder(pid: getpid(), run: "20260101T000001-aaaaaa", mark: 1, keepsJournal: true))
        refused.disown()
        let restored = try #require(RunLock.holder(of: "w.yml", in: directory))
        #expect(restored.run == holder.run && restored.hasEnded && restored.keepsJournal)
        refused.enter(holder)
        refused.end(holder)
        let ended = try #require(RunLock.holder(of: "w.yml", in: directory))
        #expect(ended.hasEnded && !ended.keepsJournal)
    }

    @Test func `the lock of an older flowrun has no mark`() throws {
        let test = try FlowrunTest(files: ["state/w.yml.lock": "1 20260101T000000-aaaaaa" + "      \n"])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: test.path("state"))
        let holder = RunLock.holder(of: "w.yml", in: try StateDirectory.existing(test.path("state")))
        #expect(holder == RunLock.Holder(pid: 1, run: "20260101T000000-aaaaaa"))
    }

    @Test func `a holder with a changed bit is not believed, one of an older version is`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let run = "20260101T000000-aaaaaa"
        let written = RunLock.Holder(pid: getpid(), run: run, mark: 0x3f_1234_5678)
        try RunLock(of: "w.yml", in: directory).enter(written)
        let line = [UInt8](try #require(FileManager.default.contents(atPath: test.path("state/w.yml.lock"))))
        for offset in line.indices {
            for bit in 0..<8 {
                var changed = line
                changed[offset] ^= 1 << UInt8(bit)
                try test.write(changed, to: "state/w.yml.lock")
                let holder = RunLock.holder(of: "w.yml", in: directory)
                #expect(holder == nil || holder == written)
            }
        }
        try test.write("17 \(run)" + String(repeating: " ", count: 37) + "\n", to: "state/w.yml.lock")
        #expect(RunLock.holder(of: "w.yml", in: directory)?.run == run)
    }

    @Test func `a lock is no link to a file somewhere else`() throws {
        let test = try FlowrunTest(files: ["precious": "keep\n"])
        let directory = try StateDirectory.made(test.path("state"))
        try FileManager.default.createSymbolicLink(
            atPath: test.path("state/w.yml.lock"), withDestinationPath: test.path("precious"))
        let error = #expect(throws: RunLockError.self) { try RunLock(of: "w.yml", in: directory) }
        #expect(error == .unusable(errno: ELOOP))
        #expect(try test.contents(of: "precious") == "keep\n")
    }
}
