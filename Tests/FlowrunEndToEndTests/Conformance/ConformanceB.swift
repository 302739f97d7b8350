import FlowrunTestSupport
import Testing

/// The order of ends: the cases B of research/seeds.md, section 3.
struct ConformanceB {
    // B2, F17
    @Test(arguments: 1...10)
    func `in a hundred groups at once, members end before their group and values are there in time`(run: Int)
        async throws
    {
        let items = (1...100).map(String.init).joined(separator: ", ")
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each:
                for-each: [\(items)]
                steps:
                  make: { run: 'echo "v=$item" >> "$FLOWRUN_OUTPUT"', shell: sh, outputs: { v: int } }
                  beside: { run: ["true"] }
                  use: { needs: [make], run: [test, "${{ steps.make.outputs.v }}", "=", "${{ item }}"] }
                outputs: { v: "${{ steps.make.outputs.v }}" }
              after: { needs: { each: success }, run: "true" }
            """)
        let result = try await test.runLogged("-j", "8")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.all("group.finished").count == 101)
        #expect(log.startOrder.last == "after")
        let needs = (1...100).map { ("each[\($0)].use", ["each[\($0)].make"]) } + [("after", ["each"])]
        LogInvariants.check(log, needs: DependencyTable(Dictionary(uniqueKeysWithValues: needs)))
    }
}
