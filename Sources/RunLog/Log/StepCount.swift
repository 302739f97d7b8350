/// How many steps a run has, in words: those that are known before it, and those that it makes.
package enum StepCount {
    /// More names than these are only counted.
    private static let namesShown = 3

    /// `2 steps`, or `2 steps and the copies of build` where only the run knows how many those are.
    package static func words(_ steps: Int, andCopiesOf fanOuts: [String]) -> String {
        let known = "\(steps) step\(steps == 1 ? "" : "s")"
        guard !fanOuts.isEmpty else { return known }
        let names = fanOuts.count > namesShown ? "\(fanOuts.count) fan-outs" : fanOuts.joined(separator: ", ")
        return "\(known) and the copies of \(names)"
    }
}
