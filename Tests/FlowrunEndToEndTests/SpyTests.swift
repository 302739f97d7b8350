import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// A step that lists no secret, or another process of the same user, finds none of the others' secrets.
struct SpyTests {
    /// Used by this test alone: the process that starts another test's flowrun may have its secret in an argument.
    private let secret = String(UUID().uuidString.prefix(24))
    private var backwards: String { String(secret.reversed()) }

    /// `spy.py SECRET-BACKWARDS FOLDER…`: looks for the secret in the arguments, environment, memory and descriptors of
    /// every process but itself, and in every file below the folders. Prints each place, and what it could look at.
    private static let spy = #"""
        import glob, os, re, stat, sys
        secret = sys.argv[1][::-1].encode()
        found, looked = [], {"environ": 0, "mem": 0, "file": 0}

        def look(path, kind):
            try:
                if kind == "file" and not stat.S_ISREG(os.stat(path).st_mode): return
                with open(path, "rb") as file:
                    looked[kind] = looked.get(kind, 0) + 1
                    if secret in file.read(64 << 20): found.append(path)
            except OSError: pass

        def look_at_memory(pid):
            try:
                with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
                    for line in maps:
                        start, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
                        if "r" not in rights or "[v" in line: continue
                        looked["mem"] += 1
                        try: memory.seek(int(start, 16)); bytes = memory.read(int(end, 16) - int(start, 16))
                        except (OSError, OverflowError): continue
                        if secret in (bytes or b""): found.append(f"/proc/{pid}/mem {line.split()[-1]}")
            except OSError: pass

        for pid in filter(str.isdigit, os.listdir("/proc")):
            if int(pid) == os.getpid(): continue
            look(f"/proc/{pid}/cmdline", "cmdline"), look(f"/proc/{pid}/environ", "environ"), look_at_memory(pid)
            for descriptor in glob.glob(f"/proc/{pid}/fd/*"): look(descriptor, "file")
        for folder in sys.argv[2:]:
            for place, _, names in os.walk(folder):
                for name in names: look(os.path.join(place, name), "file")
        for place in found: print("FOUND", place)
        print("looked", *(kind for kind in looked if looked[kind]))
        """#

    private static let asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

    private func test(_ workflow: String) throws -> FlowrunTest {
        let test = try FlowrunTest(workflow, files: ["spy.py": Self.spy, "key": "\(secret)\n", "tmp/.keep": ""])
        // The key is for the process that runs flowrun; the spy does not get it.
        #expect(chmod(test.folder, 0o777) == 0 && chmod(test.path("tmp"), 0o777) == 0)
        return test
    }

    /// A command that gives the secret to flowrun and to no other process.
    private func launcher(_ test: FlowrunTest, isRoot: Bool) -> [String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return (isRoot ? [] : Self.asNobody)
            + ["env", "-i", "PATH=\(path)", "TMPDIR=\(test.path("tmp"))", "CI_TOKEN=\(secret)"]
    }

    private var spies: String {
        #"""
        version: 1
        secrets: { TOKEN: { env: CI_TOKEN }, KEY: { file: key } }
        steps:
          lists:
            secrets: [TOKEN, KEY]
            outputs: { length: int, all: { type: string, from: stdout } }
            run: |
              test ${#TOKEN} = 24
              echo length=${#TOKEN} >> "$FLOWRUN_OUTPUT"
              echo "$TOKEN" "$KEY" | tee /dev/stderr
          fails: { secrets: [TOKEN], continue-on-error: true, run: "true \"$TOKEN\"\nfalse" }
          spies:
            needs: [lists, fails]
            run: |
              sleep 1000 & other=$!
              tr '\0' '\n' < /proc/$PPID/environ > environ.runner || true
              python3 spy.py \#(backwards) tmp .flowrun
              kill $other
        """#
    }

    @Test(.enabled(if: ResumeTests.cannotRunAsAnother == nil, ResumeTests.cannotRunAsAnother))
    func `a step of a user without rights finds no secret of others anywhere`() async throws {
        let test = try test(spies)
        let result = try await test.run(
            "workflow.yml", "--log", "json", "--log-file", "log.jsonl", launcher: launcher(test, isRoot: false))
        result.expect(exit: 0)
        let log = try result.log()
        let said = log.output(of: "spies").split(separator: "\n").filter { !$0.contains("Permission denied") }
        // It could look at processes of its user, and found them empty.
        #expect(said == ["looked environ mem file cmdline"])
        #expect(log.output(of: "lists").contains("***"))
        // The notes of bash arrive, too, though no process may open flowrun's descriptors.
        #expect(log.finished("fails")?.cause?.message == "exit 1 in `false`")
        for name in try FileManager.default.subpathsOfDirectory(atPath: test.folder) where name != "key" {
            if let text = try? test.contents(of: name) { #expect(!text.contains(secret), "\(name)") }
        }
    }

    @Test func `no process of flowrun shows the environment that flowrun was given`() async throws {
        let test = try test(
            """
            version: 1
            secrets: { TOKEN: { env: CI_TOKEN } }
            steps:
              looks:
                run: |
                  read -r _ _ _ guard _ < /proc/$PPID/stat
                  cat /proc/$PPID/environ /proc/$guard/environ > seen || true
            """)
        try await test.run("workflow.yml", launcher: launcher(test, isRoot: true)).expect(exit: 0)
        let seen = try test.contents(of: "seen")
        #expect(seen.utf8.count > 100 && seen.utf8.allSatisfy { $0 == 0 })
    }

    private enum End: String, CaseIterable {
        case guardKilled = "kill -9 $guard", runnerKilled = "kill -9 $PPID", bothKilled = "kill -9 $guard $PPID"
        case crashed = "kill -SEGV $PPID"
    }

    /// Also in what it leaves: temporary files, state, cores.
    @Test(
        .enabled(if: ResumeTests.cannotRunAsAnother == nil, ResumeTests.cannotRunAsAnother), arguments: End.allCases)
    private func `nor does it find one of a flowrun that was killed`(end: End) async throws {
        let test = try test(
            """
            version: 1
            secrets: { TOKEN: { env: CI_TOKEN } }
            steps:
              lists: { secrets: [TOKEN], run: 'echo "$TOKEN"; seq 9999; echo "$TOKEN" >&2' }
              notes: { secrets: [TOKEN], run: "true \"$TOKEN\"\necho > up; read _ < go" }
              ends:
                needs: [lists, { id: notes, if: started }]
                run: |
                  until test -e up; do sleep 0.01; done
                  read -r _ _ _ guard _ < /proc/$PPID/stat
                  \(end.rawValue)
                  read _ < go
            """)
        let gate = try test.gate("go")
        #expect(chmod(test.path("go"), 0o666) == 0)
        let running = try await test.start(
            "workflow.yml", "--output", "grouped",
            launcher: ["sh", "-c", "ulimit -c unlimited; exec \"$@\"", "sh"] + launcher(test, isRoot: false))
        _ = try await running.finish()
        try test.killSurvivors()
        let looks = ["sh", "-c", "rm -f key; exec python3 spy.py \(backwards) ."]
        let found = try await test.run(launcher: Self.asNobody + looks)
        #expect(!found.stdout.contains("FOUND") && found.stdout.contains(" file cmdline\n"), "\(found.stdout)")
        withExtendedLifetime(gate) {}
    }
}
