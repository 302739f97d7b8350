internal import Workflow

/// The value of a condition after a failure, and the needs whose failure decides it.
struct ConditionTruth {
    /// nil if other values decide.
    let value: Bool?
    /// The ids of needs of which a single failure is enough.
    var namesThatMakeItTrue: Set<String> = []
    var namesThatMakeItFalse: Set<String> = []

    func isFalse(ifFailed name: String) -> Bool { value == false || namesThatMakeItFalse.contains(name) }

    var negated: ConditionTruth {
        ConditionTruth(
            value: value.map { !$0 }, namesThatMakeItTrue: namesThatMakeItFalse,
            namesThatMakeItFalse: namesThatMakeItTrue)
    }

    /// The truth of `a && b && …`.
    static func all(_ parts: [ConditionTruth]) -> ConditionTruth {
        if parts.contains(where: { $0.value == false }) { return ConditionTruth(value: false) }
        let open = parts.filter { $0.value == nil }
        guard let first = open.first else { return ConditionTruth(value: true) }
        return ConditionTruth(
            value: nil,
            namesThatMakeItTrue: open.dropFirst().reduce(first.namesThatMakeItTrue) {
                $0.intersection($1.namesThatMakeItTrue)
            },
            namesThatMakeItFalse: open.reduce(into: []) { $0.formUnion($1.namesThatMakeItFalse) })
    }
}

extension Expression {
    /// True if a condition lets its step run although something that it needs has failed. If other values decide as
    /// well, it counts as such a condition if it cannot hold without `always()` or `failure()`.
    var holdsAfterFailure: Bool {
        usesStatus && (root.truth(of: .failure).value ?? (root.truth(of: .nothing).value == false))
    }
}

extension ExpressionNode {
    enum Status {
        case failure
        /// `always()` and `failure()` count as false, so that nothing lets a step run after a failure.
        case nothing
    }

    func truth(of status: Status) -> ConditionTruth {
        switch kind {
        case .literal(.bool(let value)): return ConditionTruth(value: value)
        case .call(.always, _), .call(.failure, _): return ConditionTruth(value: status == .failure)
        case .call(.success, _), .call(.cancelled, _): return ConditionTruth(value: status == .nothing)
        case .not(let part): return part.truth(of: status).negated
        case .all(let parts): return .all(parts.map { $0.truth(of: status) })
        case .any(let parts): return ConditionTruth.all(parts.map { $0.truth(of: status).negated }).negated
        case .comparison(.equal, let left, let right): return Self.equality(left, right, status)
        case .comparison(.notEqual, let left, let right): return Self.equality(left, right, status).negated
        default: return ConditionTruth(value: nil)
        }
    }

    private static func equality(
        _ left: ExpressionNode, _ right: ExpressionNode, _ status: Status
    ) -> ConditionTruth {
        if let name = left.stepOfOutcome ?? right.stepOfOutcome {
            // A failed step has neither of these outcomes.
            let isGood = left.isGoodOutcome || right.isGoodOutcome
            return ConditionTruth(value: nil, namesThatMakeItFalse: isGood ? [name] : [])
        }
        guard let left = left.truth(of: status).value, let right = right.truth(of: status).value else {
            return ConditionTruth(value: nil)
        }
        return ConditionTruth(value: left == right)
    }

    /// The id in `steps.ID.outcome`.
    private var stepOfOutcome: String? {
        guard case .reference(let root, let path) = kind, root.text == "steps", path.count == 2,
            case .field(let step) = path[0], case .field(let field) = path[1], field.text == "outcome"
        else { return nil }
        return step.text
    }

    private var isGoodOutcome: Bool {
        guard case .literal(.string(let text)) = kind else { return false }
        return text == "success" || text == "skipped"
    }
}
