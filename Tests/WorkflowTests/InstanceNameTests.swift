import Syntax
import Testing
import Workflow

struct `The names of copies` {
    private func keys(_ fanOut: String) -> [String] {
        checkStep("run: x\n\(fanOut)").node("a")?.settings?.fanOut?.instances.map(\.key) ?? []
    }

    @Test(arguments: [
        (
            "for-each: [windows/amd64, a:1, 3.10, c++, 'größe', x=y, '*']",
            ["windows/amd64", "a:1", "3.10", "c++", "größe", "x=y", "*"]
        ),
        ("for-each: [plain, 'a b', 'c,d', '[e]', \"f'\", 'g\\', '']", ["plain", "1", "2", "3", "4", "5", "6"]),
        ("for-each: ['a b', '0']", ["0", "1"]),
        ("for-each: [\"\\u200B\", \"\\u0085\", \"a\\tb\"]", ["0", "1", "2"]),
        ("matrix: { os: [linux, freebsd], v: [3.9, '4 b'] }", ["linux,3.9", "1", "freebsd,3.9", "3"]),
        ("matrix: { a: [x], include: [{ a: y, b: 1 }, { a: y, b: 2 }] }", ["0", "1", "2"]),
        ("matrix: { include: [{ os: linux, cc: gcc }, { os: macos }] }", ["linux,gcc", "macos"]),
    ])
    func `are the values where they are easy to read, and else the number`(fanOut: String, names: [String]) {
        #expect(keys(fanOut) == names)
    }

    @Test func `have at most 64 characters a value`() {
        let (long, longer) = (String(repeating: "ö", count: 64), String(repeating: "o", count: 65))
        #expect(keys("for-each: [\(long), \(longer)]") == [long, "1"])
    }

    @Test(arguments: [
        ("for-each: [a, b]\nlabel: 'job-${{ item }}'", ["job-a", "job-b"]),
        ("matrix: { os: [linux], cc: [gcc, clang] }\nlabel: ${{ cc }}", ["gcc", "clang"]),
        ("matrix: { os: [linux], cc: [gcc, clang] }\nlabel: ${{ os }}", ["0", "1"]),
        ("for-each: [a, b]\nlabel: 'the ${{ item }}'", ["the a", "the b"]),
        ("for-each: [a, 'b c']\nlabel: '${{ item }}-x'", ["a-x", "b c-x"]),
        ("for-each: [a, ' b']\nlabel: '${{ item }}'", ["a", "1"]),
        ("for-each: [a, b]\nlabel: '${{ item }} '", ["0", "1"]),
        ("for-each: [a, 'b,c']\nlabel: 'the ${{ item }}'", ["the a", "1"]),
        ("for-each: [a, \"b\\tc\"]\nlabel: 'the ${{ item }}'", ["the a", "1"]),
    ])
    func `are what label says, which may have blanks inside`(fanOut: String, names: [String]) {
        #expect(keys(fanOut) == names)
    }

    @Test func `label names the items of a list that the run knows`() throws {
        let checked = checkStep("run: x\nfor-each: ${{ fromJSON(env.X) }}\nas: job\nlabel: ${{ job.name }}")
        let fanOut = try #require(checked.node("a")?.settings?.fanOut)
        let list = try Value(json: #"[{"name":"fast"},{"name":"slow"}]"#)
        #expect(try fanOut.instances(over: list).map(\.key) == ["fast", "slow"])
        let error = try #require(throws: FanOut.ItemError.self) { try fanOut.instances(over: try Value(json: "[{}]")) }
        #expect(error.message.hasPrefix("has an item whose `label` has no value: "))
        #expect(try fanOut.instances(over: list, isHidden: { $0 == "slow" }).map(\.key) == ["fast", "1"])
    }

    @Test func `label needs a fan-out`() {
        let checked = checkStep("run: x\n1️⃣label: x")
        #expect(checked.summary == ["1️⃣ FR0209 `label` has no effect here; it belongs to `matrix` or `for-each`"])
    }
}
