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
}
