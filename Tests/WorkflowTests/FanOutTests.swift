import Syntax
import Testing
import Workflow

struct `A fan-out` {
    private func instances(_ lines: String) -> [String] {
        let checked = checkStep("run: x\n" + lines)
        #expect(checked.diagnostics.filter { $0.severity == .error }.map(\.message) == [])
        return checked.node("a")?.settings?.fanOut?.instances.map { instance in
            "\(instance.key): " + instance.variables.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        } ?? []
    }

    @Test func `goes over the items of a list`() {
        #expect(instances("for-each: [x86_64, arm64]\nas: target") == ["x86_64: target=x86_64", "arm64: target=arm64"])
        #expect(instances("for-each: [3.10, 010]") == ["3.10: item=3.10", "010: item=010"])
    }

    @Test func `names by its index what would be hard to read`() {
        #expect(instances("for-each: [ok, \"a b\", x/y]") == ["ok: item=ok", "1: item=a b", "x/y: item=x/y"])
        #expect(instances("for-each: [1, \"a b\"]") == ["0: item=1", "1: item=a b"])
        #expect(instances("matrix: { a: [x, \"\"], b: [1] }") == ["x,1: a=x b=1", "1: a= b=1"])
    }

    @Test func `makes the product of the axes in file order`() {
        #expect(
            instances("matrix: { os: [linux, mac], py: [3.9, 3.10] }") == [
                "linux,3.9: os=linux py=3.9", "linux,3.10: os=linux py=3.10", "mac,3.9: os=mac py=3.9",
                "mac,3.10: os=mac py=3.10",
            ])
    }

    @Test func `excludes first and includes then`() {
        let lines = """
            matrix:
              fruit: [apple, pear]
              animal: [cat, dog]
              exclude: [{ fruit: pear, animal: cat }]
              include:
                - { color: green }
                - { color: pink, animal: cat }
                - { fruit: apple, shape: circle }
                - { fruit: banana }
                - { fruit: banana, animal: cat }
            """
        #expect(
            instances(lines) == [
                "apple,cat: fruit=apple animal=cat color=pink shape=circle",
                "apple,dog: fruit=apple animal=dog color=green shape=circle",
                "pear,dog: fruit=pear animal=dog color=green",
                "banana: fruit=banana", "banana,cat: fruit=banana animal=cat",
            ])
        #expect(instances("matrix: { include: [{ a: 1, b: 2 }, { a: 2 }] }") == ["1,2: a=1 b=2", "2: a=2"])
    }

    @Test(arguments: [
        ("for-each: 1️⃣[]", "FR0216? `for-each` has no items, so nothing runs"),
        ("for-each: [a, b, 1️⃣a]", "FR0214 `a` is in the list twice"),
        ("for-each: 1️⃣a", "FR0205 `for-each` takes a list of texts, or one expression in `${{ }}`, found the text `a`"),
        (
            "for-each: x 1️⃣${{ steps.b.outputs.c }}",
            "FR0401 `${{ }}` goes around the whole expression, or is left out"
        ),
        ("for-each: [1️⃣[a]]", "FR0205 an item of `for-each` is a text, found a list"),
        ("for-each: [a]\nas: 1️⃣PATH", "FR0212 `PATH` is a variable that changes how programs behave"),
        ("for-each: [a]\nas: 1️⃣my-item", "FR0211 `my-item` cannot name a variable"),
        ("matrix: { a: [1] }\n1️⃣for-each: [a]", "FR0209 a node has either `matrix` or `for-each`, this one has both"),
        ("matrix: { a: [1] }\n1️⃣as: x", "FR0209 `as` has no effect here; it belongs to `for-each`"),
        ("1️⃣max-items: 3", "FR0209 `max-items` has no effect here; it belongs to `matrix` or `for-each`"),
        ("matrix: 1️⃣[a]", "FR0205 `matrix` takes a mapping of axes to lists of values, found a list"),
        ("matrix: { a: [1], b: 1️⃣[] }", "FR0216 the axis `b` has no values, so the matrix would be empty"),
        ("matrix: { a: 1️⃣x }", "FR0205 `a` takes a list of values, found the text `x`"),
        ("matrix: { 1️⃣LD_PRELOAD: [x] }", "FR0212 `LD_PRELOAD` is a variable that changes how programs behave"),
        ("matrix: { size: [1], 1️⃣SIZE: [2] }", "FR0219? the axes `size` and `SIZE` differ only in capital letters"),
        ("matrix: { v: [1, 2], exclude: [{ v: 1️⃣9 }] }", "FR0215 the axis `v` has no value `9`"),
        (
            "matrix: { v: [10], exclude: [{ v: 1️⃣\"10\" }] }",
            "FR0215 the text `10` is not the value of the axis `v`, which is written `10`"
        ),
        ("matrix: { city: [a], exclude: [{ 1️⃣town: a }] }", "FR0215 the matrix has no axis `town`"),
        (
            "matrix: { city: [a], exclude: [1️⃣a] }",
            "FR0205 an entry of `exclude` is a mapping from axes to values, found the text `a`"
        ),
        ("1️⃣matrix: { a: [x], exclude: [{ a: x }] }", "FR0216? the matrix is empty, so nothing runs"),
        ("matrix: { a: [x], include: [{ 1️⃣HOME: y }] }", "FR0212 `HOME` cannot name a variable of a matrix"),
        (
            "max-items: 3\n1️⃣matrix: { a: [1, 2], b: [1, 2] }",
            "FR0213 `matrix` makes 4 copies, more than the limit of 3"
        ),
        ("max-items: 2\n1️⃣for-each: [a, b, c]", "FR0213 `for-each` makes 3 items, more than the limit of 2"),
        (
            "max-items: 1️⃣100001\nfor-each: [a]",
            "FR0206 `max-items` takes a whole number from 1 to 100000, found `100001`"
        ),
    ])
    func `is refused where it says something wrong`(lines: String, finding: String) {
        #expect(checkStep("run: x\n" + lines).summary == ["1️⃣ \(finding)"])
    }

    @Test func `may leave its items to the run`() throws {
        let checked = checkStep("run: x\nfor-each: ${{ steps.b.outputs.c }}\nas: part\nmax-items: 7")
        #expect(checked.summary == [])
        let fanOut = try #require(checked.node("a")?.settings?.fanOut)
        #expect(fanOut.axes == ["part"] && fanOut.instances.isEmpty && fanOut.limit == 7)
        #expect(fanOut.items?.text == "steps.b.outputs.c")
    }

    @Test func `is measured before it is made`() {
        let axis = "[" + (0..<10).map(String.init).joined(separator: ", ") + "]"
        let million = "abcdef".map { "\($0): \(axis)" }.joined(separator: ", ")
        #expect(
            checkStep("run: x\n1️⃣matrix: { \(million) }").summary
                == ["1️⃣ FR0213 `matrix` makes 1000000 copies, more than the limit of 1000"])
        let countless = (0..<40).map { "a\($0): \(axis)" }.joined(separator: ", ")
        #expect(checkStep("run: x\n1️⃣matrix: { \(countless) }").diagnostics.map(\.code) == [.fanOutTooLarge])
        let rules = (0..<500).map { _ in "{ a: 0 }" }.joined(separator: ", ")
        let large = "matrix: { a: \(axis), b: \(axis), c: \(axis), d: \(axis), e: \(axis), exclude: [\(rules)] }"
        #expect(checkStep("run: x\nmax-items: 100000\n\(large)").diagnostics.map(\.code) == [.fanOutTooLarge])
    }
}
