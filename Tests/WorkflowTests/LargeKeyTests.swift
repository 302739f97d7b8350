import Syntax
import Testing
import Workflow

/// Sizes at which anything that grows with the square would be noticed by whoever waits for this test.
struct `Very many` {
    private let count = 5000

    private func names(_ count: Int) -> String { (0..<count).map { "n\($0)" }.joined(separator: ", ") }

    @Test func `parameters and secrets of the same names`() {
        let parameters = (0..<count).map { "n\($0): {}" }.joined(separator: ", ")
        let secrets = (0..<count).map { "n\($0): { env: A }" }.joined(separator: ", ")
        let checked = Checked(
            "version: 1\nparams: { \(parameters) }\nsecrets: { \(secrets) }\nsteps: { a: { run: x } }\n")
        #expect(checked.diagnostics.count == 1000)
        #expect(checked.workflow?.parameters.count == count && checked.workflow?.secrets.count == count)
    }

    @Test func `values, and secrets that nobody declares`() {
        let checked = Checked(
            """
            version: 1
            params: { a: { type: enum, values: [\(names(count))], default: n1 } }
            secrets: { \((0..<count).map { "m\($0): { env: A }" }.joined(separator: ", ")) }
            steps: { a: { run: x, secrets: [\(names(2000))] } }

            """)
        #expect(Set(checked.diagnostics.map(\.code)) == [.undeclaredSecret])
    }

    @Test func `hooks, one in each group`() {
        let groups = (0..<count).map { "  g\($0): { steps: { a: { run: x } }, finally: { b: { run: x } } }\n" }.joined()
        let checked = Checked("version: 1\nsteps:\n\(groups)")
        #expect(checked.diagnostics.isEmpty)
        #expect(checked.workflow?.nodes.count == 1 + 4 * count)
        #expect(checked.workflow?.nodes.filter { $0.hook != nil }.count == count)
    }

    @Test(arguments: 0..<8)
    func `steps beside hooks of the file`(padding: Int) {
        let inner = "{ steps: { a: { run: x } }, finally: { c: { run: z } } }"
        let steps = (0..<12_000 + padding).map { "  g\($0): \(inner)\n" }.joined()
        let hooks = "on-failure: { d: { run: x } }\nfinally: { e: { run: x } }\n"
        #expect(Checked("version: 1\nsteps:\n\(steps)\(hooks)").diagnostics.isEmpty)
        let namesake = "  finally: { run: x }\n"
        let checked = Checked("version: 1\nsteps:\n\(steps)\(namesake)\(steps.replacing("g", with: "h"))\(hooks)")
        #expect(checked.diagnostics.map(\.code) == [.invalidID])
    }

    /// A document with an alias keeps the memory of all its nodes.
    @Test func `steps are read the same whether the memory of their nodes goes early or late`() throws {
        let steps = (0..<30_000).map { number in
            switch number % 5 {
            case 0: "  s\(number): { run: [make, \"a\\tb\", s\(number)], timeout: 5m }\n"
            case 1: "  s\(number): { needs: [s\(number - 1), s0], run: ./run \(number) }\n"
            case 2:
                "  s\(number): { steps: { a: { run: x }, b: { needs: { a: done }, run: y } }, finally: { c: { run: z } } }\n"
            case 3: "  s\(number): { run: x, timeuot: 1m }\n"
            default: "  s\(number): { needs: [s\(number - 1)], env: { A: \(number) }, run: 'one\n    two' }\n"
            }
        }
        let text = "version: 1\nsteps:\n" + steps.joined()
        let early = Checked(text + "x-none: [1, 2]\n")
        let late = Checked(text + "x-some: [&a 1, *a]\n")
        #expect(early.summary == late.summary && early.diagnostics.count > 500)
        let (first, second) = (try #require(early.workflow), try #require(late.workflow))
        #expect(first.needs == second.needs && first.nodes.count == second.nodes.count)
        for (one, other) in zip(first.nodes, second.nodes) where "\(one)" != "\(other)" {
            Issue.record("\(one) is not \(other)")
            break
        }
    }
}
