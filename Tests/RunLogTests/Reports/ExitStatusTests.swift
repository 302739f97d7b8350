import Glibc
import RunLog
import Testing

import enum RunLog.ExitStatus

@Suite struct ExitStatusTests {
    @Test(arguments: [
        (ExitStatus.exited(0), "exit 0"), (.exited(2), "exit 2"), (.exited(126), "exit 126 (not executable)"),
        (.exited(127), "exit 127 (command not found)"), (.signalled(11), "killed by SIGSEGV"),
    ])
    func `an end is told in a few words`(status: ExitStatus, words: String) {
        #expect("\(status)" == words)
    }

    @Test func `signals have the names that the system gives them`() {
        for (number, name) in [
            (SIGHUP, "SIGHUP"), (SIGINT, "SIGINT"), (SIGKILL, "SIGKILL"), (SIGTERM, "SIGTERM"), (SIGCHLD, "SIGCHLD"),
            (SIGTSTP, "SIGTSTP"), (SIGXCPU, "SIGXCPU"), (SIGWINCH, "SIGWINCH"), (SIGSYS, "SIGSYS"),
            (34, "SIGRTMIN"), (37, "SIGRTMIN+3"), (99, "SIG99"),
        ] {
            #expect(SignalName.of(number) == name)
        }
    }
}
