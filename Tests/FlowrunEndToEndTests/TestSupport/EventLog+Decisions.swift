import FlowrunTestSupport

extension EventLog {
    /// By step of a resumed run: the reason why it ran again, or `restored`.
    var decisions: [String: String] {
        var found: [String: String] = [:]
        for record in all("step.rerun") { found[record.step ?? ""] = record["reason"]?.string }
        for record in all("step.restored") { found[record.step ?? ""] = "restored" }
        return found
    }
}
