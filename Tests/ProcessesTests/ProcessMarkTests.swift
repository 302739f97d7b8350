import FlowrunTestSupport
import Glibc
import Testing

@testable import Processes

struct ProcessMarkTests {
    init() { EventLoopThread.ensureRunning() }

    @Test func `commands of a run differ in their marks and share the run`() {
        let run: UInt64 = 63 << 32 | 0xABCD_EF01
        let marks = [0, 1, 2, 1 << 24].map { ProcessMark(run: run, command: $0) }
        #expect(Set(marks).count == 3)
        #expect(marks.allSatisfy { $0.run == run && $0.level == 63 })
        // Numbers begin anew after 2^24 commands, but not with the one of those that may outlive the run.
        #expect(marks[3] == marks[1])
        #expect(marks[0].rawValue & 0xFF_FFFF == 0)
    }

    @Test @EventLoopActor func `a process without a mark and one that is gone are told apart`() {
        #expect(ProcessMark.of(getpid()) == .unmarked)
        #expect(ProcessMark.of(pid_t.max) == .gone)
    }
}
