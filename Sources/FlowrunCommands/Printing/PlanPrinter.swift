internal import Reporting
internal import SourceDiagnostics
internal import WorkflowModel
package import WorkflowPlanning

/// What `flowrun plan` answers.
package struct PlanPrinter {
    private let plan: Plan
    private let bound: RunBound
    private let jobs: Int
    /// Steps by level, then in file order: an order in which they could run one by one.
    private let steps: [Int]

    /// `jobs` is how many steps may run at once, for the bound.
    package init(_ plan: Plan, jobs: Int) {
        self.plan = plan
        self.jobs = jobs
        bound = plan.bound(jobs: jobs)
        steps = Self.byLevel(plan)
    }

    /// Counting sort: a level is below the number of steps.
    private static func byLevel(_ plan: Plan) -> [Int] {
        let rows = plan.nodes.indices.filter { plan.nodes[$0].role == .step }
        var levels = [[Int]](repeating: [], count: Int(plan.nodes[0].remainingPath))
        for row in rows { levels[Int(plan.nodes[row].level)].append(row) }
        return levels.flatMap { $0 }
    }

    // MARK: JSON

    /// One object (DESIGN section 7).
    package func json() -> String {
        var json = JSONWriter()
        json.object { json in
            json.array("steps") { json in for row in steps { write(row, to: &json) } }
            json.array("groups") { json in
                for row in plan.nodes.indices.dropFirst() where plan.nodes[row].role != .step { write(row, to: &json) }
            }
            json.field("critical_path", plan.criticalPath().map { plan.nodes[$0].id })
            switch bound {
            case .atMost(let duration):
                json.field("bound", duration)
                json.null("bound_reason")
            case .none(let reason):
                json.null("bound")
                json.field("bound_reason", reason)
            }
        }
        json.newline()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func write(_ row: Int, to json: inout JSONWriter) {
        json.object { json in
            json.field("id", plan.nodes[row].id)
            json.field("level", Int(plan.nodes[row].level))
            json.array("needs") { json in
                for edge in plan.edges(of: row) { json.value(plan.nodes[Int(edge.target)].id) }
            }
            json.field("file", plan.workflow.file.name)
            json.field("line", plan.line(of: row))
        }
    }

    // MARK: Text

    /// For people: the steps level by level with what they wait for, then the critical path and the bound.
    package func text() -> String {
        let levels = Int(plan.nodes[0].remainingPath)
        var text = plan.workflow.file.name.asOneLine
        text += ": \(steps.count.counted("step")) in \(levels.counted("level"))\n"
        // A few very long ids must not push everything else to the right.
        let width = min(48, steps.map { plan.nodes[$0].id.utf8.count }.max() ?? 0)
        var level: UInt32?
        for row in steps {
            if plan.nodes[row].level != level {
                level = plan.nodes[row].level
                text += "\nlevel \(plan.nodes[row].level)\n"
            }
            let waits = waits(of: row)
            text +=
                "  " + (waits.isEmpty ? plan.nodes[row].id : "\(plan.nodes[row].id.padded(to: width))  after \(waits)")
            text += "\n"
        }
        text += "\n" + criticalPathText()
        switch bound {
        case .atMost(let duration): text += "bound: at most \(duration.asWritten) with \(jobs.counted("job"))\n"
        case .none(let reason): text += "bound: none, \(reason.asOneLine)\n"
        }
        return text
    }

    /// What a step waits for itself and then what the groups around it wait for.
    private func waits(of row: Int) -> String {
        var ids: [String] = []
        var total = 0
        var waiting = row
        while true {
            for edge in plan.edges(of: waiting) {
                total += 1
                if ids.count < 6 { ids.append(plan.nodes[Int(edge.target)].id) }
            }
            if waiting == 0 { break }
            waiting = Int(plan.nodes[waiting].parent)
        }
        return ids.joined(separator: ", ") + (total > ids.count ? " and \(total - ids.count) more" : "")
    }

    private func criticalPathText() -> String {
        let ids = plan.criticalPath().map { plan.nodes[$0].id }
        guard !ids.isEmpty else { return "" }
        var text = "critical path: \(ids.count.counted("step"))\n"
        var line = "  " + ids[0]
        for id in ids.dropFirst() {
            if line.utf8.count + 4 + id.utf8.count > 100 {
                text += line + " ->\n"
                line = "  " + id
            } else {
                line += " -> " + id
            }
        }
        return text + line + "\n"
    }
}
