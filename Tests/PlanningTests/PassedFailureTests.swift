import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

struct `A failure that a step behind always() does not see` {
    @Test(arguments: [
        "logs: { needs: [test], if: always(), run: x }\npublish: { needs: [1️⃣logs], run: x }",
        "logs: { needs: [test], if: \"always() && params.up\", run: x }\npublish: { needs: [1️⃣logs], run: x }",
        "logs: { needs: [test], if: failure(), run: x }\npublish: { needs: [1️⃣logs], if: params.up, run: x }",
        "logs: { needs: [test], if: always(), run: x }\npublish: { needs: [1️⃣logs], steps: { a: { run: x } } }",
        "logs: { needs: [test], if: always(), run: x }\npublish: { needs: [1️⃣logs] }",
        "logs: { needs: [test], if: \"!cancelled()\", run: x }\npublish: { needs: [1️⃣logs], run: x }",
        "logs: { needs: [test], if: \"!cancelled() && params.up\", run: x }\npublish: { needs: [1️⃣logs], run: x }",
        "c: { needs: [test], continue-on-error: true, run: x }\n"
            + "logs: { needs: [c], if: always(), run: x }\npublish: { needs: [1️⃣logs], run: x }",
        "logs: { needs: [test], if: failure() == true, run: x }\npublish: { needs: [1️⃣logs], run: x }",
        "logs: { needs: [test], if: \"failure() != false && params.up\", run: x }\npublish: { needs: [1️⃣logs], run: x }",
        "t: { run: x }\nlogs: { needs: [test, t], if: \"always() && steps.t.outcome == 'success'\", run: x }\n"
            + "publish: { needs: [1️⃣logs], run: x }",
        "logs: { needs: [test], if: \"always() && steps.test.outcome != 'success'\", run: x }\n"
            + "publish: { needs: [1️⃣logs], run: x }",
        "g: { needs: [test], steps: { t: { continue-on-error: true, run: x } } }\n"
            + "logs: { needs: [g], if: always(), run: x }\npublish: { needs: [1️⃣logs], run: x }",
    ])
    func `is a warning`(steps: String) {
        let planned = Planned("test: { run: x }\n" + steps, top: "params: { up: { type: bool, default: true } }")
        #expect(planned.summary == ["1️⃣ FR0304? `publish` runs even if `test` fails"])
    }

    @Test(arguments: [
        // It needs what may fail itself, or through something between.
        "logs: { needs: [test], if: always(), run: x }\npublish: { needs: [logs, test], run: x }",
        "logs: { needs: [test], if: always(), run: x }\nb: { needs: [test], run: x }\npublish: { needs: [logs, b], run: x }",
        "logs: { needs: [test], if: always(), run: x }\npublish: { needs: { logs: done, test: success }, run: x }",
        "logs: { needs: [test], if: always(), run: x }\ng: { needs: [test], steps: { publish: { needs: [logs], run: x } } }",
        // It says what it wants.
        "logs: { needs: [test], if: always(), run: x }\nup: { needs: [logs], if: always(), run: x }",
        "logs: { needs: [test], if: always(), run: x }\nup: { needs: { logs: success }, run: x }",
        // What it needs does not run after a failure, or waits for it by name.
        "logs: { needs: [test], if: \"!failure()\", run: x }\nup: { needs: [logs], run: x }",
        "logs: { needs: [test], if: success(), run: x }\nup: { needs: [logs], run: x }",
        "logs: { needs: [test], if: \"success() || params.up\", run: x }\nup: { needs: [logs], run: x }",
        "logs: { needs: { test: success }, if: always(), run: x }\nup: { needs: [logs], run: x }",
        // Nobody minds the failure.
        "lint: { continue-on-error: true, run: x }\nlogs: { needs: [lint], if: always(), run: x }\nup: { needs: [logs], run: x }",
        "g: { steps: { t: { continue-on-error: true, run: x } } }\n"
            + "logs: { needs: [g], if: always(), run: x }\nup: { needs: [logs], run: x }",
        "g: { steps: { h: { steps: { t: { continue-on-error: true, run: x } } } } }\n"
            + "logs: { needs: [g], if: always(), run: x }\nup: { needs: [logs], run: x }",
        // The condition is false if it fails.
        "logs: { needs: [test], if: \"always() && steps.test.outcome == 'success'\", run: x }\nup: { needs: [logs], run: x }",
        "logs: { needs: [test], if: \"always() && !(steps.test.outcome != 'success')\", run: x }\nup: { needs: [logs], run: x }",
        "logs: { needs: [test], if: failure() == false, run: x }\nup: { needs: [logs], run: x }",
        "logs: { needs: [test], if: always(), run: x }\nb: { needs: [test], if: success(), run: x }\n"
            + "up: { needs: [logs, b], run: x }",
        "logs: { needs: [test], if: always(), run: x }\n"
            + "b: { needs: [test], if: \"always() && steps.test.outcome == 'success'\", run: x }\nup: { needs: [logs, b], run: x }",
        // The member of a group fails with the group.
        "g: { steps: { t: { run: x } } }\nlogs: { needs: [g], if: always(), run: x }\nup: { needs: [logs, g], run: x }",
    ])
    func `is none where it is seen, or meant`(steps: String) {
        let planned = Planned("test: { run: x }\n" + steps, top: "params: { up: { type: bool, default: true } }")
        #expect(planned.summary == [])
    }

    @Test(arguments: ["timeout: 5m", "require: [{ if: params.up, message: x }]", "finally: { c: { run: x } }"])
    func `is a warning about a group of tolerated steps that fails by itself`(key: String) {
        let planned = Planned(
            "g: { \(key), steps: { t: { continue-on-error: true, run: x } } }\n"
                + "logs: { needs: [g], if: always(), run: x }\npublish: { needs: [1️⃣logs], run: x }",
            top: "params: { up: { type: bool, default: true } }")
        #expect(planned.summary == ["1️⃣ FR0304? `publish` runs even if `g` fails"])
    }

    @Test func `a member of a sequence needs all before it, and passes by only outside needs`() throws {
        let planned = Planned(
            """
            build: { run: x }
            test: { run: x }
            g:
              order: sequence
              steps:
                test: { needs: [build], run: x }
                logs: { needs: [build], if: 2️⃣always(), run: x }
                1️⃣publish: { run: x }
            h:
              order: sequence
              steps:
                logs: { needs: [test], if: 2️⃣always(), run: x }
                3️⃣publish: { run: x }
            """)
        #expect(planned.summary == ["3️⃣ FR0304? `publish` runs even if `test` fails"])
        let finding = try #require(planned.diagnostics.first)
        #expect(finding.notes.first?.message == "`logs` runs after a failure, too")
        #expect(
            finding.fix?.description
                == "let `publish` need `test`, too; or write `if: always()` if it is to run in any case")
    }

    // Few rows are looked at one by one, many 64 at a time.
    @Test(arguments: [3, 300]) func `is seen through however many steps between`(count: Int) {
        let chain = (1..<count).map { "s\($0): { needs: [s\($0 - 1)], run: x }\n" }.joined()
        let planned = Planned(
            """
            s0: { run: x }
            other: { run: x }
            \(chain)logs: { needs: [s0, s1, other], if: always(), run: x }
            publish: { needs: [1️⃣logs, s\(count - 1)], run: x }
            ship: { needs: [logs, s\(count - 1), other], run: x }
            """)
        #expect(planned.summary == ["1️⃣ FR0304? `publish` runs even if `other` fails"])
    }

    @Test func `has a fix that a machine can make where the list is in brackets`() {
        let planned = Planned(
            "a: { run: x }\nb: { run: x }\nl: { needs: [a, b], if: always(), run: x }\np: { needs: [l], run: x }")
        #expect(planned.fixed.contains("p: { needs: [l, a, b], run: x }"))
    }
}
