internal import Basics
internal import Glibc
internal import Planning
internal import Workflow

/// The durations of steps, from past runs or from a file: one JSON object of ids to seconds.
struct StepDurations {
    /// By id.
    private let durations: [String: Duration]
    /// The runs that the durations come from, the last one first; empty for a file.
    let sources: [String]
    /// Assumed duration of a step if no step has a history.
    private static let usual = Duration.seconds(1)

    private static let sizeLimit = 64 << 20

    /// No duration is known.
    static let none = StepDurations([:])

    init(_ durations: [String: Duration], from sources: [String] = []) {
        self.durations = durations
        self.sources = sources
    }

    var isEmpty: Bool { durations.isEmpty }

    subscript(id: String) -> Duration? { durations[id] }

    /// Reads a file. Throws a usage error if it cannot be read or has another form.
    init(file path: String) throws(CommandError) {
        let value: Value
        let text = try Self.text(of: path)
        do throws(JSONError) {
            value = try Value(json: text)
        } catch {
            throw Self.error(path, error.message)
        }
        guard case .object(let fields) = value else {
            throw Self.error(path, "expected one JSON object of ids to seconds, found \(value.described)")
        }
        var durations: [String: Duration] = [:]
        for field in fields {
            guard let duration = Self.duration(field.value) else {
                let found = field.value.json
                throw Self.error(path, "`\(field.name)`: expected seconds, at least 0, found `\(found)`")
            }
            durations[field.name] = duration
        }
        self.init(durations)
    }

    private static func text(of path: String) throws(CommandError) -> String {
        do throws(SystemError) {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw .last }
            defer { close(descriptor) }
            let bytes = try WholeFile.read(descriptor, limit: sizeLimit)
            guard bytes.count <= sizeLimit else { throw SystemError(EFBIG) }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw Self.error(path, error.words)
        }
    }

    private static func error(_ path: String, _ reason: String) -> CommandError {
        .usage("--durations \(path): \(reason)")
    }

    /// Returns nil for a time that cannot be added up.
    private static func duration(_ value: Value) -> Duration? {
        let seconds: Double
        switch value {
        case .int(let whole): seconds = Double(whole)
        case .decimal(let number): seconds = number.approximation
        default: return nil
        }
        // 30,000 years, beyond which sums of many steps are no longer whole microseconds.
        guard seconds >= 0, seconds < 1e12 else { return nil }
        return .microseconds(Int64((seconds * 1e6).rounded()))
    }

    /// Returns the duration of each row of the plan; groups and milestones take no time.
    func lengths(of plan: Plan) -> [Duration] {
        let known = plan.rows.map { isTimed($0, in: plan) ? durations[plan.nodes[$0].id] : .zero }
        guard known.contains(nil) else { return known.compactMap(\.self) }
        let usual = usualLength(in: plan)
        return known.map { $0 ?? usual }
    }

    /// Assumed duration of a step without history: the median of the others, the lower one of two.
    func usualLength(in plan: Plan) -> Duration {
        let known = plan.rows.compactMap { isTimed($0, in: plan) ? durations[plan.nodes[$0].id] : nil }
        return known.isEmpty ? Self.usual : known.sorted()[(known.count - 1) / 2]
    }

    private func isTimed(_ row: PlanIndex, in plan: Plan) -> Bool {
        plan.nodes[row].role == .step && !plan.isMilestone(row)
    }

    /// Returns the number of steps of a plan whose duration is known.
    func knownCount(in plan: Plan) -> Int {
        plan.rows.count { plan.nodes[$0].role == .step && durations[plan.nodes[$0].id] != nil }
    }

    /// Returns the ids that are not in the plan, sorted.
    func unknown(in plan: Plan) -> [String] {
        guard !durations.isEmpty else { return [] }
        let ids = Set(plan.nodes.map(\.id))
        return durations.keys.filter { !ids.contains($0) }.sorted()
    }
}
