import FlowrunTestSupport
import Foundation
import Testing

@testable import FlowrunCommands

/// The live runs of a workflow, and the last ones.
@Suite struct RunLockTests {
    private static let runs = (0..<4).map { "20260101T00000\($0)-aaaaaa" }

    /// Enters a run as a start does, and lets others in.
    private func take(
        _ name: String = "w.yml", in directory: StateDirectory, run: String, claims: [UInt64] = [],
        isWaiting: Bool = false, parent: String? = nil
    ) throws -> (lock: RunLock, holder: RunLock.Holder) {
        let lock = try RunLock(of: name, in: directory)
        var holder = RunLock.Holder(pid: getpid(), run: run, mark: 0x3f_1234_5678, parent: parent)
        holder.isWaiting = isWaiting
        lock.enter(&holder, claims: claims.flatMap { claim in withUnsafeBytes(of: claim.littleEndian, Array.init) })
        lock.letOthersIn()
        return (lock, holder)
    }

    private let test: FlowrunTest
    private let directory: StateDirectory

    init() throws {
        test = try FlowrunTest()
        directory = try StateDirectory.made(test.path("state"))
    }

    @Test func `runs of one file are in it side by side, each with its claims`() throws {
        let first = try take(in: directory, run: Self.runs[0], claims: [1, 2])
        let second = try take(in: directory, run: Self.runs[1], claims: [3])
        let third = try RunLock(of: "w.yml", in: directory)
        #expect(third.others.map(\.holder) == [first.holder, second.holder])
        #expect(third.others.map(\.isLive) == [true, true])
        #expect(third.others.map { third.claims(of: $0) } == [[1, 2], [3]])
        #expect(third.previous == nil)
        third.letOthersIn()
        #expect(RunLock.entries(of: "w.yml", in: directory).map(\.isLive) == [true, true])
        withExtendedLifetime((first.lock, second.lock)) {}
    }

    @Test func `the next start waits until one has entered, alone or beside others`() async throws {
        var kept: [RunLock] = []
        for run in Self.runs {
            let entering = try RunLock(of: "w.yml", in: directory)
            let other = Task.detached { try RunLock(of: "w.yml", in: directory) }
            var holder = RunLock.Holder(pid: getpid(), run: run)
            entering.enter(&holder)
            entering.letOthersIn()
            // It sees the run, however early it asked.
            let next = try await other.value
            #expect(next.others.contains { $0.holder.run == run && $0.isLive })
            next.letOthersIn()
            kept.append(entering)
        }
    }

    @Test func `another name is another lock`() throws {
        let first = try take("a.yml", in: directory, run: Self.runs[0])
        let second = try take("b.yml", in: directory, run: Self.runs[1])
        #expect(RunLock.newest(of: "b.yml", in: directory)?.run == Self.runs[1])
        #expect(RunLock.entries(of: "a.yml", in: directory).count == 1)
        withExtendedLifetime((first.lock, second.lock)) {}
    }

    @Test func `a slot that was given up tells who had it, and what may be left of that`() throws {
        for (run, before) in zip(Self.runs, [nil] + Self.runs.map(Optional.some)) {
            let lock = try RunLock(of: "w.yml", in: directory)
            #expect(lock.previous?.run == before)
            #expect(lock.others.allSatisfy { $0.isLeftover && !$0.isLive })
            var holder = RunLock.Holder(pid: getpid(), run: run)
            lock.enter(&holder)
        }
        #expect(RunLock.newest(of: "w.yml", in: directory)?.run == Self.runs.last)
    }

    @Test func `the newest is the one that entered last, without those inside of others and those that wait`() throws {
        let locks = [
            try take(in: directory, run: Self.runs[1]), try take(in: directory, run: Self.runs[0]),
            try take(in: directory, run: Self.runs[2], parent: Self.runs[0]),
            try take(in: directory, run: Self.runs[3], isWaiting: true),
        ]
        #expect(RunLock.newest(of: "w.yml", in: directory)?.run == Self.runs[0])
        withExtendedLifetime(locks) {}
    }

    @Test func `a run that was killed while it waited has left nothing`() throws {
        _ = try take(in: directory, run: Self.runs[0], isWaiting: true)
        let lock = try RunLock(of: "w.yml", in: directory)
        #expect(lock.others.map(\.isLeftover) == [false])
    }

    @Test func `alone again, a run begins with one slot`() throws {
        let file = test.path("state/w.yml.lock")
        let size = { try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0 }
        do {
            let locks = try Self.runs.map { try take(in: directory, run: $0) }
            #expect(try size() > 3 << 24)
            withExtendedLifetime(locks) {}
        }
        let last = try take(in: directory, run: "20260101T000009-aaaaaa")
        #expect(try size() <= 1 << 24)
        #expect(last.holder.number == 5)
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
        #expect(RunLock.entries(of: "w.yml", in: directory).isEmpty)
        let entered = try take(in: directory, run: RunID.make())
        #expect(entered.lock.previous == nil)
        #expect(RunLock.newest(of: "w.yml", in: directory) == entered.holder)
    }

    @Test func `a slot says by which mark a run is known, whether it has ended, and where its files were`() throws {
        do {
            let (lock, holder) = try take(in: directory, run: Self.runs[0], claims: [7, 8, 9])
            lock.note(temporaryFolder: "/tmp/a\nb", of: holder, claimCount: 3)
        }
        do {
            let lock = try RunLock(of: "w.yml", in: directory)
            let entry = try #require(lock.others.first)
            #expect(entry.holder.mark == 0x3f_1234_5678 && entry.isLeftover)
            #expect(lock.temporaryFolder(of: entry) == "/tmp/a\nb")
            var second = RunLock.Holder(pid: getpid(), run: Self.runs[1], mark: 1)
            lock.enter(&second, claims: [])
            lock.end(second)
        }
        let third = try RunLock(of: "w.yml", in: directory)
        #expect(third.previous?.run == Self.runs[1] && third.previous?.hasEnded == true)
        #expect(third.others.allSatisfy { !$0.isLeftover && third.temporaryFolder(of: $0) == nil })
        var holder = RunLock.Holder(pid: getpid(), run: Self.runs[2])
        third.enter(&holder)
        third.disown()
        #expect(RunLock.newest(of: "w.yml", in: directory) == third.previous)
    }

    @Test func `a slot says whether a run that did not end by itself had a journal`() throws {
        var holder = RunLock.Holder(pid: .max, run: Self.runs[0], mark: 1, keepsJournal: true)
        do { try RunLock(of: "w.yml", in: directory).enter(&holder) }
        #expect(RunLock.newest(of: "w.yml", in: directory) == holder)
        // A run that is refused restores it.
        let refused = try RunLock(of: "w.yml", in: directory)
        var other = RunLock.Holder(pid: getpid(), run: Self.runs[1], mark: 1, keepsJournal: true)
        refused.enter(&other)
        refused.disown()
        let restored = try #require(RunLock.newest(of: "w.yml", in: directory))
        #expect(restored.run == holder.run && restored.hasEnded && restored.keepsJournal)
        refused.enter(&other)
        refused.end(other)
        let ended = try #require(RunLock.newest(of: "w.yml", in: directory))
        #expect(ended.hasEnded && !ended.keepsJournal)
    }

    @Test func `a run that is refused alone restores the last one, whichever slot that had`() throws {
        do {
            let first = try take(in: directory, run: Self.runs[0])
            let second = try take(in: directory, run: Self.runs[1])
            second.lock.end(second.holder)
            first.lock.end(first.holder)
        }
        let refused = try RunLock(of: "w.yml", in: directory)
        var holder = RunLock.Holder(pid: getpid(), run: Self.runs[2])
        refused.enter(&holder)
        refused.disown()
        let restored = try #require(RunLock.newest(of: "w.yml", in: directory))
        #expect(restored.run == Self.runs[1] && restored.number == 2 && restored.hasEnded)
    }

    @Test func `a run with more claims than a slot has room for has claimed everything`() throws {
        let many = [UInt64](repeating: 1, count: RunLock.mostClaims + 1)
        let all = try take(in: directory, run: Self.runs[0], claims: many)
        all.lock.note(temporaryFolder: "/tmp/a", of: all.holder, claimCount: many.count)
        let other = try take(in: directory, run: Self.runs[1], claims: Array(many.dropLast()))
        let third = try RunLock(of: "w.yml", in: directory)
        #expect(third.others.map(\.holder) == [all.holder, other.holder])
        #expect(third.others.map { third.claims(of: $0) } == [nil, [1]])
        #expect(third.others.map { third.temporaryFolder(of: $0) } == ["/tmp/a", nil])
        withExtendedLifetime((all.lock, other.lock)) {}
    }

    @Test func `the lock of an older flowrun has no mark`() throws {
        let test = try FlowrunTest(files: ["state/w.yml.lock": "1 20260101T000000-aaaaaa" + "      \n"])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: test.path("state"))
        let holder = RunLock.newest(of: "w.yml", in: try StateDirectory.existing(test.path("state")))
        #expect(holder == RunLock.Holder(pid: 1, run: "20260101T000000-aaaaaa"))
    }

    @Test func `with a changed bit a run is not believed, or its claims are any`() throws {
        let written = try take(in: directory, run: Self.runs[0], claims: [1, 2]).holder
        let bytes = [UInt8](try #require(FileManager.default.contents(atPath: test.path("state/w.yml.lock"))))
        for offset in 0..<128 {
            for bit in 0..<8 {
                var changed = bytes
                changed[offset] ^= 1 << UInt8(bit)
                try test.write(changed, to: "state/w.yml.lock")
                let lock = try RunLock(of: "w.yml", in: directory)
                guard let entry = lock.others.first else { continue }
                #expect(entry.holder.run == written.run && entry.holder.mark == written.mark)
                #expect(entry.holder == written || offset >= 64)
                if offset >= 64, entry.holder != written { #expect(lock.claims(of: entry) == nil) }
            }
        }
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
