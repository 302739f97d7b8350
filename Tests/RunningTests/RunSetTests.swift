import Testing

@testable import Running

/// Sets of runs and marks of ids, by which a resumed run decides.
struct RunSetTests {
    @Test(arguments: [0, 1, 2, 63, 64, 65, 127, 128, 129, 200]) func `a set has the runs from one on`(count: Int) {
        for start in Set([0, 1, 5, 62, 63, 64, 65, 127, 128, 130, 199, 200]) where start <= count {
            let runs = RunSet(from: start, count: count)
            #expect((0..<count + 70).filter { runs[$0] } == Array(start..<count))
        }
    }

    @Test func `the intersection of two sets has the runs of both, however many there are`() {
        for count in [7, 64, 65, 150] {
            var evens = RunSet((0..<count).filter { $0.isMultiple(of: 2) }, count: count)
            var later = RunSet(from: count / 3, count: count)
            later[count - 1] = false
            #expect(!later[count - 1] && later[count - 2])
            evens.formIntersection(later)
            #expect((0..<count).filter { evens[$0] } == (0..<count - 1).filter { $0 >= count / 3 && $0 % 2 == 0 })
            evens.formIntersection(.none)
            #expect((0..<count).allSatisfy { !evens[$0] })
        }
    }

    @Test func `the last mark of an id may be that of an enclosing one, copies and labels with dots included`() {
        var marks = IDMarks()
        func hook(_ id: String) -> String? { marks.last(of: id)?.hook }
        #expect(marks.isEmpty && hook("a") == nil)
        marks.note("g.build", IDMarks.Mark(moment: 3, hook: "build"))
        marks.note("g.py[3.10]", IDMarks.Mark(moment: 4, hook: "py"))
        #expect(hook("g.build") == "build" && hook("g.build[x].a") == "build" && hook("g.build.a.b") == "build")
        #expect(hook("g.buildx") == nil && hook("g") == nil && hook("build") == nil)
        #expect(hook("g.py[3.10].a") == "py" && hook("g.py[3.11].a") == nil && hook("g.py[3") == nil)
        marks.note("", IDMarks.Mark(moment: 2, hook: "run"))
        #expect(hook("other") == "run" && hook("g.build.a") == "build")
        marks.note("g", IDMarks.Mark(moment: 9, hook: "late"))
        marks.note("g", IDMarks.Mark(moment: 1, hook: "early"))
        #expect(hook("g.build.a") == "late" && hook("g.py[3.10]") == "late" && hook("other") == "run")
        #expect(marks.hooks(of: "g.build.a", after: 0) == ["late", "build", "run", "early"])
        #expect(marks.hooks(of: "g.build.a", after: 2) == ["late", "build"])
        #expect(marks.hooks(of: "other", after: 2) == [])
    }
}
