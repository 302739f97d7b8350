import Planning
import Syntax
import Testing
import Workflow

/// What holds for a row: its own keys, the groups around it, `defaults`, the built-in values.
struct RowSettingsTests {
    @Test func `a step's own word stands over defaults, and those over what is built in`() throws {
        let plan = try plan(
            """
            defaults:
              { timeout: 5m, grace: 1s, kill-signal: INT, shell: sh, env-policy: clean, streams: separate, retry: { attempts: 2 } }
            steps:
              own:
                run: make
                timeout: 7s
                grace: 2s
                kill-signal: HUP
                shell: zsh
                env-policy: inherit
                streams: together
                retry: { attempts: 4 }
              plain: { run: make }
            """)
        let own = try #require(plan.row("own"))
        #expect(plan.timeout(of: own) == .seconds(7))
        #expect(plan.grace(of: own) == .seconds(2))
        #expect(plan.killSignal(of: own) == .hup)
        #expect(plan.shell(of: own) == Shell(named: "zsh"))
        #expect(plan.environmentPolicy(of: own) == .inherit)
        #expect(plan.streams(of: own) == .together)
        #expect(plan.retry(of: own)?.attempts == 4)
        let plain = try #require(plan.row("plain"))
        #expect(plan.timeout(of: plain) == .seconds(300))
        #expect(plan.grace(of: plain) == .seconds(1))
        #expect(plan.killSignal(of: plain) == .int)
        #expect(plan.shell(of: plain) == .sh)
        #expect(plan.environmentPolicy(of: plain) == .clean)
        #expect(plan.streams(of: plain) == .separate)
        #expect(plan.retry(of: plain)?.attempts == 2)
    }

    @Test func `without any word the built-in values hold`() throws {
        let plan = try plan("steps: { a: { run: make } }")
        #expect(plan.timeout(of: PlanIndex(1)) == nil)
        #expect(plan.retry(of: PlanIndex(1)) == nil)
        #expect(plan.grace(of: PlanIndex(1)) == .seconds(10))
        #expect(plan.killSignal(of: PlanIndex(1)) == .term)
        #expect(plan.shell(of: PlanIndex(1)) == .bash)
        #expect(plan.environmentPolicy(of: PlanIndex(1)) == .inherit)
        #expect(plan.logView(of: PlanIndex(1)) == nil)
        #expect(plan.streams(of: PlanIndex(1)) == .together)
        #expect(plan.workingDirectory(of: PlanIndex(1)) == nil)
        #expect(!plan.toleratesFailure(of: PlanIndex(1)))
    }

    @Test func `groups hand down shell, grace and signal, not timeout, retry and tolerance`() throws {
        let plan = try plan(
            """
            defaults: { grace: 1s, timeout: 5m, retry: { attempts: 2 } }
            steps:
              outer:
                shell: sh
                grace: 3s
                timeout: 1h
                retry: { attempts: 9 }
                continue-on-error: true
                working-directory: sub
                steps:
                  inner: { kill-signal: QUIT, steps: { a: { run: make } } }
            """)
        let (outer, inner) = (try #require(plan.row("outer")), try #require(plan.row("outer.inner")))
        let step = try #require(plan.row("outer.inner.a"))
        #expect(plan.shell(of: step) == .sh)
        #expect(plan.grace(of: step) == .seconds(3))
        #expect(plan.killSignal(of: step) == .quit)
        #expect(plan.timeout(of: step) == .seconds(300))
        #expect(plan.retry(of: step)?.attempts == 2)
        #expect(plan.timeout(of: outer) == .seconds(3600))
        #expect(plan.retry(of: outer)?.attempts == 9)
        #expect(plan.toleratesFailure(of: outer) && !plan.toleratesFailure(of: step))
        #expect(plan.workingDirectory(of: outer) == "sub" && plan.workingDirectory(of: step) == nil)
        // `defaults` speak of steps.
        #expect(plan.timeout(of: inner) == nil && plan.retry(of: inner) == nil)
    }

    @Test func `a step of a hook has two minutes where nothing says more`() throws {
        let steps = """
            steps: { a: { run: make } }
            finally:
              tidy: { run: make }
              long: { run: make, timeout: 1h }
              block: { steps: { deep: { run: make } } }
            """
        let plain = try plan(steps)
        #expect(plain.timeout(of: try #require(plain.row("finally.tidy"))) == .seconds(120))
        #expect(plain.timeout(of: try #require(plain.row("finally.long"))) == .seconds(3600))
        #expect(plain.timeout(of: try #require(plain.row("finally.block"))) == nil)
        #expect(plain.timeout(of: try #require(plain.row("finally.block.deep"))) == .seconds(120))
        let defaulted = try plan("defaults: { timeout: 5m }\n" + steps)
        #expect(defaulted.timeout(of: try #require(defaulted.row("finally.tidy"))) == .seconds(300))
    }

    @Test func `if, platforms, max-parallel and fail-fast are those of a whole fan-out, the rest each copys`() throws {
        let plan = try plan(
            """
            params: { deep: { type: bool, default: true } }
            steps:
              group:
                for-each: [x, y]
                if: params.deep
                max-parallel: 1
                fail-fast: true
                timeout: 7s
                retry: { attempts: 3 }
                mutex: lock
                continue-on-error: true
                steps: { a: { run: make } }
              step:
                for-each: [x]
                platforms: [linux]
                max-items: 5
                timeout: 8s
                pool: { slots: 1 }
                run: make
            pools: { slots: 2 }
            """)
        let (whole, copy) = (try #require(plan.row("group")), try #require(plan.row("group[x]")))
        #expect(plan.condition(of: whole) != nil && plan.condition(of: copy) == nil)
        #expect(plan.maxParallel(of: whole) == 1 && plan.maxParallel(of: copy) == nil)
        #expect(plan.failFast(of: whole) == .cancel && plan.failFast(of: copy) == nil)
        #expect(plan.fanOut(of: whole)?.instances.count == 2 && plan.fanOut(of: copy) == nil)
        #expect(plan.timeout(of: whole) == nil && plan.timeout(of: copy) == .seconds(7))
        #expect(plan.retry(of: whole) == nil && plan.retry(of: copy)?.attempts == 3)
        #expect(plan.mutexes(of: whole).isEmpty && plan.mutexes(of: copy).map(\.name) == ["lock"])
        #expect(!plan.toleratesFailure(of: whole) && plan.toleratesFailure(of: copy))
        let (steps, step) = (try #require(plan.row("step")), try #require(plan.row("step[x]")))
        #expect(plan.platforms(of: steps) == [.linux] && plan.platforms(of: step).isEmpty)
        #expect(plan.timeout(of: steps) == nil && plan.timeout(of: step) == .seconds(8))
        #expect(plan.pools(of: steps).isEmpty && plan.pools(of: step).map(\.units) == [1])
    }

    @Test func `the top of the file speaks for the run, and for steps in what they inherit`() throws {
        let plan = try plan(
            """
            timeout: 2h
            env-policy: clean
            log: quiet
            max-parallel: 3
            defaults: { working-directory: build, timeout: 1m }
            steps:
              a: { run: make }
              b: { run: make, log: live }
            """)
        #expect(plan.timeout(of: .root) == .seconds(7200))
        #expect(plan.maxParallel(of: .root) == 3)
        #expect(plan.workingDirectory(of: .root) == "build" && plan.workingDirectory(of: PlanIndex(1)) == nil)
        #expect(plan.environmentPolicy(of: PlanIndex(1)) == .clean)
        #expect(plan.logView(of: PlanIndex(1)) == .quiet && plan.logView(of: PlanIndex(2)) == .live)
    }

    private func plan(_ text: String) throws -> Plan {
        let file = SourceFile(name: "flow.yml", text: "version: 1\n" + text + "\n")
        let (document, problems) = YAMLParser.parse(file)
        let (workflow, mistakes) = WorkflowDecoder.decode(try #require(document))
        let (plan, findings) = Planner.plan(try #require(workflow))
        #expect((problems + mistakes + findings).filter { $0.severity == .error }.map(\.message) == [])
        return try #require(plan)
    }
}
