import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// A process that flowrun may not signal.
struct UnkillableTests {
    /// Without the right to signal other users, and without a cgroup that could be killed.
    private static let powerless = [
        "unshare", "-m", "sh", "-c",
        #"mount -t tmpfs none /sys/fs/cgroup; exec setpriv --bounding-set=-kill "$0" "$@""#,
    ]

    static let canDropRights =
        geteuid() == 0
        && ["/usr/bin/setpriv", "/bin/setpriv"].contains { FileManager.default.isExecutableFile(atPath: $0) }

    @Test(.enabled(if: canDropRights, "needs to be root, and setpriv"))
    func `a step whose process may not be signalled is lost, and the run ends without it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 0s }
            steps:
              stuck: { run: [setpriv, --reuid=65534, --clear-groups, sh, -c, "echo > up; exec sleep 9999"] }
              after: { needs: [stuck], run: touch ran }
            """)
        #expect(chmod(test.folder, 0o777) == 0)
        let running = try await test.start("workflow.yml", "--log", "json", launcher: Self.powerless)
        try await running.waitForFile("up")
        running.signal(SIGTERM)
        let result = try await running.finish()
        result.expect(.signalled(SIGTERM))
        let left = test.survivors()
        try test.killSurvivors()
        #expect(left.count == 1)
        let log = try result.log()
        #expect(log.outcomes == ["stuck": "cancelled", "after": "cancelled"])
        #expect(log.finished("stuck")?.cause?.kind == "lost")
        #expect(log.finished("stuck")?["exit_code"] == .null && log.finished("stuck")?["signal"] == .null)
        #expect(log.first("warning")?["code"]?.string == "lost")
        // None has arrived.
        #expect(log.all("step.signal").isEmpty)
        #expect(!test.exists("ran"))
    }
}
