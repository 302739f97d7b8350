import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Numbers of processes that come round while flowrun kills.
struct PidReuseTests {
    /// Whether a process namespace may have few numbers of its own: from Linux 6.14 on. Before, they were all the
    /// machine's.
    private static let mayLimitNumbers: Bool = {
        var name = utsname()
        guard geteuid() == 0, uname(&name) == 0 else { return false }
        let release = withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let parts = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return parts.count == 2 && (parts[0], parts[1]) >= (6, 14)
    }()

    // F08
    @Test(.enabled(if: mayLimitNumbers, "needs to be root, and Linux 6.14"))
    func `no stranger is killed whose number was that of a process of the run`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 20ms }
            steps:
              storm:
                for-each: [\((1...12).map(String.init).joined(separator: ", "))]
                steps:
                  leaves: { run: "setsid sleep 9999 & (trap '' TERM; exec sleep 9999) & sleep 0.02" }
                  times-out: { timeout: 40ms, continue-on-error: true, run: "setsid sleep 9999 & (trap '' TERM; sleep 9999) & sleep 9999" }
            """,
            // A hundred numbers, which go to processes of the run and to strangers in turn.
            files: [
                "strangers": """
                echo 400 > /proc/sys/kernel/pid_max || exit 77
                for each in 1 2; do
                    bash -c 'while test ! -e over; do { sleep 0.01 & wait $!; } 2> /dev/null || echo $? >> killed; echo >> lived; done' &
                done
                "$0" "$@"
                status=$?
                touch over
                wait
                exit $status
                """
            ])
        let result = try await test.run(
            "workflow.yml", "--log", "json", "-j", "4",
            launcher: [
                "unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c", ". ./strangers",
            ])
        result.expect(exit: 0)
        #expect(try (test.exists("killed") ? test.contents(of: "killed") : "") == "")
        #expect(try test.contents(of: "lived").count > 100)
        #expect(test.survivors() == [])
        #expect(try result.log().outcomes.values.count { $0 == "timeout" } == 12)
    }
}
