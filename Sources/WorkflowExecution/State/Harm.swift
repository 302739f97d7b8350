internal import WorkflowPlanning

/// What the end of something takes from what needs it: a status function asks for no more.
struct Harm: OptionSet {
    let rawValue: UInt8

    /// Something has failed or timed out.
    static let failure = Harm(rawValue: 1)
    static let cancel = Harm(rawValue: 2)
    /// Something was ruled out, and it does not matter by what.
    static let absence = Harm(rawValue: 4)
}

/// The first members of a sequence, in file order, that have done harm: it is seen by all that come behind them.
struct SequenceHarm {
    private var failed: PlanIndex?
    private var cancelled: PlanIndex?

    mutating func note(_ row: PlanIndex, _ harm: Harm) {
        if harm.contains(.failure) { failed = min(failed ?? row, row) }
        if harm.contains(.cancel) { cancelled = min(cancelled ?? row, row) }
    }

    func before(_ row: PlanIndex) -> Harm {
        var harm: Harm = []
        if let failed, failed < row { harm.insert(.failure) }
        if let cancelled, cancelled < row { harm.insert(.cancel) }
        return harm
    }
}
