import Syntax
import Testing
import Workflow

/// `if`, `retry`, `outputs`, `pool`, `mutex`, `stdin`, `env-policy`, `platforms` and `log`.
struct `A step's keys` {
    private func settings(_ lines: String) throws -> Settings {
        let checked = checkStep("run: x\n" + lines)
        #expect(checked.diagnostics.map(\.message) == [])
        return try #require(checked.node("a")?.settings)
    }

    @Test func `say how often it is tried`() throws {
        let retry = try #require(
            settings(
                "retry: { attempts: 3, delay: 5s, backoff: 1.5, max-delay: 1m, jitter: 0.2, when: [timeout, 137, signal], deadline: 25m }"
            ).retry)
        #expect(retry.attempts == 3 && retry.delay == .seconds(5) && retry.backoff == 1.5)
        #expect(retry.maxDelay == .seconds(60) && retry.jitter == 0.2 && retry.deadline?.duration == .seconds(1500))
        #expect(retry.reasons == [.timeout, .exitCode(137), .signal])
        let plain = try #require(settings("retry: { attempts: 2 }").retry)
        #expect(plain.delay == .zero && plain.backoff == 1 && plain.maxDelay == nil && plain.jitter == 0)
        #expect(plain.reasons.isEmpty && plain.deadline == nil)
    }

    @Test func `say what it takes while it runs`() throws {
        func requests(_ lines: String) throws -> [String] {
            let settings = try settings(lines)
            return settings.pools.map { "\($0.pool) \($0.units)" } + settings.mutexes.map(\.name)
        }
        #expect(try requests("pool: emulator") == ["emulator 1"])
        #expect(try requests("pool: [emulator, gpu]") == ["emulator 1", "gpu 1"])
        #expect(try requests("pool: { emulator: 2, gpu: 1 }") == ["emulator 2", "gpu 1"])
        #expect(try requests("mutex: registry") == ["registry"])
        #expect(try requests("mutex: [registry, db-1]") == ["registry", "db-1"])
    }

    @Test func `say what it hands on`() throws {
        let outputs = try settings(
            "outputs: { a: string, b: int, c: { type: list }, d: { type: json, from: stdout }, e: { from: stdout } }"
        ).outputs
        #expect(outputs.map(\.name) == ["a", "b", "c", "d", "e"])
        let kinds = outputs.map { output -> String in
            switch output.source {
            case .file(let kind): "file \(kind)"
            case .standardOutput(let kind): "stdout \(kind)"
            case .expression: "expression"
            }
        }
        #expect(kinds == ["file string", "file int", "file list", "stdout json", "stdout string"])
    }

    @Test func `say the rest`() throws {
        let settings = try settings(
            """
            if: params.channel == 'stable'
            stdin: "${{ steps.b.stdout }}"
            env-policy: clean
            platforms: [linux, arm64]
            log: quiet
            streams: separate
            working-directory: "${{ params.folder }}/src"
            env: { A: "x ${{ params.a }} y", B: plain }
            """)
        #expect(settings.condition?.text == "params.channel == 'stable'")
        guard case .parsed(let input) = settings.standardInput else {
            Issue.record("stdin is a template")
            return
        }
        #expect(input.expression?.text == "steps.b.stdout")
        #expect(settings.environmentPolicy == .clean && settings.log == .quiet)
        #expect(settings[.streams] == OutputStreams.separate)
        #expect(settings.platforms == [.linux, .arm64])
        #expect(settings.workingDirectory != nil && settings.workingDirectory?.literal == nil)
        #expect(settings.env.map { $0.value?.literal } == [nil, "plain"])
    }

    @Test(arguments: [
        ("retry: 1️⃣3", "FR0205 `retry` takes a mapping such as `{ attempts: 3, delay: 5s }`, found the number `3`"),
        ("1️⃣retry: {}", "FR0204 `retry` needs `attempts`"),
        ("retry: { attempts: 1️⃣0 }", "FR0206 `attempts` takes a whole number from 1 to 1000, found `0`"),
        (
            "retry: { attempts: 1️⃣1000000000000 }",
            "FR0206 `attempts` takes a whole number from 1 to 1000, found `1000000000000`"
        ),
        ("retry: { attempts: 2, delay: 1️⃣5 }", "FR0206 `delay` needs a unit, found `5`"),
        ("retry: { attempts: 2, 1️⃣backoff: 2 }", "FR0209 `backoff` has no effect without `delay`"),
        (
            "retry: { attempts: 2, delay: 1s, backoff: 1️⃣0.5 }",
            "FR0206 `backoff` takes a number from 1 to 1000, found `0.5`"
        ),
        (
            "retry: { attempts: 2, delay: 1s, backoff: 1️⃣.inf }",
            "FR0206 `backoff` takes a number from 1 to 1000, found `.inf`"
        ),
        ("retry: { attempts: 2, delay: 1s, jitter: 1️⃣2 }", "FR0206 `jitter` takes a number from 0 to 1, found `2`"),
        (
            "retry: { attempts: 2, delay: 10s, max-delay: 1️⃣5s }",
            "FR0206 `max-delay` is shorter than the `delay` of 10s, found `5s`"
        ),
        (
            "retry: { attempts: 2, when: [1️⃣0] }",
            "FR0206 an entry of `when` is an exit code from 1 to 255, `timeout` or `signal`, found the number `0`"
        ),
        (
            "retry: { attempts: 2, when: [1️⃣timout] }",
            "FR0206 an entry of `when` is an exit code from 1 to 255, `timeout` or `signal`, found the text `timout`"
        ),
        (
            "retry: { attempts: 2, when: 1️⃣timeout }",
            "FR0205 `when` takes a list of exit codes, `timeout` and `signal`, found the text `timeout`"
        ),
        ("retry: { attempts: 2, when: 1️⃣[] }", "FR0216? `when` is empty"),
        ("retry: { attempts: 2, 1️⃣timeout: 5m }", "FR0202 `retry` has no key `timeout`"),
        ("retry: { 1️⃣limit: 2 }", "FR0202 `limit` is not a key of `retry`; flowrun's word is `attempts`"),
        ("retry: { 1️⃣atempts: 2 }", "FR0201 unknown key `atempts` in `retry`"),
        (
            "pool: 1️⃣true",
            "FR0205 `pool` takes a pool's name, a list of names, or `{ name: units }`, found the boolean `true`"
        ),
        ("pool: 1️⃣a.b", "FR0207 `a.b` cannot name a pool"),
        ("pool: { a: 1️⃣0 }", "FR0206 `a` takes a whole number from 1 to 1000000, found `0`"),
        ("pool: [a, 1️⃣a]", "FR0214 `a` is in the list twice"),
        ("mutex: 1️⃣{ name: a, scope: host }", "FR0205 `mutex` takes a name or a list of names, found a mapping"),
        ("mutex: [1️⃣\"a b\"]", "FR0207 `a b` cannot name a mutex"),
        ("mutex: [1️⃣[a]]", "FR0205 an entry of `mutex` is a word, found a list"),
        (
            "outputs: 1️⃣[a]",
            "FR0205 `outputs` takes a mapping of names to types such as `{ version: string }`, found a list"
        ),
        ("outputs: { 1️⃣a.b: int }", "FR0207 `a.b` cannot name an output"),
        ("outputs: { a: 1️⃣\"${{ b }}\" }", "FR0205 `a` takes the type of what the step writes, found an expression"),
        ("pool: \"1️⃣${{ b }}\"", "FR0402 `${{ }}` is not evaluated here"),
        ("mutex: [\"1️⃣${{ b }}\"]", "FR0402 `${{ }}` is not evaluated here"),
        (
            "1️⃣retryStrategy: { attempts: 2 }\npool: [a]",
            "FR0202 `retryStrategy` is not a key of a step; flowrun's word is `retry`"
        ),
        (
            "outputs: { a: 1️⃣float }",
            "FR0206 `a` takes `string`, `int`, `bool`, `list`, `lines` or `json`, found `float`"
        ),
        (
            "outputs: { a: 1️⃣number }",
            "FR0206 `a` takes `string`, `int`, `bool`, `list`, `lines` or `json`, found `number`"
        ),
        ("outputs: { a: { from: 1️⃣stderr } }", "FR0206 `from` takes `stdout`, found `stderr`"),
        ("outputs: { a: { 1️⃣value: x } }", "FR0201 unknown key `value` in an output"),
        ("1️⃣stdin:", "FR0205 `stdin` takes a text, found nothing"),
        ("env-policy: 1️⃣empty", "FR0206 `env-policy` takes `inherit` or `clean`, found `empty`"),
        (
            "platforms: [1️⃣amiga]",
            "FR0206 a platform is one of `linux`, `macos`, `windows`, `freebsd`, `x86_64`, `arm64` or `riscv64`, "
                + "found `amiga`"
        ),
        ("1️⃣pools: { a: 1 }", "FR0201 `pools` is not a key of a step"),
        ("1️⃣on-failure: { b: { run: x } }", "FR0201 `on-failure` is not a key of a step"),
    ])
    func `are refused where they say something wrong`(lines: String, finding: String) {
        #expect(checkStep("run: x\n" + lines).summary == ["1️⃣ \(finding)"])
    }

    @Test func `name platforms that the machine must be among`() {
        let machine: [Platform] = [.linux, .x64]
        #expect([Platform]().allow(machine))
        #expect([Platform.linux].allow(machine) && ![Platform.macos].allow(machine))
        #expect([Platform.macos, .linux].allow(machine) && [Platform.x64].allow(machine))
        #expect(![Platform.linux, .arm64].allow(machine) && [Platform.linux, .arm64, .x64].allow(machine))
        #expect(Platform.current.contains(.linux))
    }
}
