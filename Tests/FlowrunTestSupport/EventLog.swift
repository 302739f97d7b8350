import Foundation

/// The JSON Lines log of one run, in the order in which it was written.
package struct EventLog: Sendable {
    package let records: [Record]

    package init(records: [Record]) { self.records = records }

    /// Throws where a line is not a JSON object with an `event`.
    package init(jsonLines text: String) throws {
        records = try text.utf8.split(separator: 10).map { try Record(line: $0) }
    }

    /// One event.
    package struct Record: Sendable {
        /// All fields, those with accessors too.
        package let fields: [String: JSONValue]
        package let event: String

        init(line: some Collection<UInt8>) throws {
            let fields: [String: JSONValue]
            do {
                fields = try JSONDecoder().decode([String: JSONValue].self, from: Data(line))
            } catch {
                throw Malformed(line: String(decoding: line, as: UTF8.self), why: "\(error)")
            }
            try self.init(fields: fields)
        }

        package init(fields: [String: JSONValue]) throws {
            guard let event = fields["event"]?.string else { throw Malformed(line: "\(fields)", why: "no `event`") }
            self.fields = fields
            self.event = event
        }

        package subscript(_ key: String) -> JSONValue? { fields[key] }
        package var seq: Int { fields["seq"]?.int ?? -1 }
        package var step: String? { fields["step"]?.string }
        package var group: String? { fields["group"]?.string }
        package var outcome: String? { fields["outcome"]?.string }
        /// Seconds since the run started.
        package var time: Double { fields["t"]?.double ?? -1 }
        package var cause: CauseChain? { CauseChain(fields["cause"]) }
    }

    /// Why something did not succeed, down to the root.
    package struct CauseChain: Sendable {
        /// From the cause itself to the root; never empty.
        package let links: [JSONValue]

        init?(_ value: JSONValue?) {
            var links: [JSONValue] = []
            var next = value
            while let link = next, link.object != nil {
                links.append(link)
                next = link["cause"]
            }
            guard !links.isEmpty else { return nil }
            self.links = links
        }

        package var kind: String? { links.first?["kind"]?.string }
        package var message: String? { links.first?["message"]?.string }
        package var root: JSONValue { links[links.count - 1] }
        /// The step that the root is about.
        package var rootStep: String? { root["step"]?.string }
    }

    /// A line that is no record.
    package struct Malformed: Error, CustomStringConvertible {
        let line: String
        let why: String
        package var description: String { "not a record of the log (\(why)): \(line.prefix(400))" }
    }

    /// The log without what members of groups did in rounds that another one followed.
    package var lastRounds: EventLog {
        guard records.contains(where: { $0.event == "group.retry" }) else { return self }
        // Whether a round followed is only known from the end: a group may end before the round that it announced.
        var startedLater: Set<String> = []
        var retried: Set<String> = []
        let kept = records.reversed().filter { record in
            if record.event == "group.retry", let group = record.group, startedLater.contains(group) {
                retried.insert(group)
            }
            if record.event == "group.started", let group = record.group { startedLater.insert(group) }
            guard let id = record.step ?? record.group else { return true }
            return !retried.contains { Self.isInside(id, $0) }
                && !(record.event == "group.started" && retried.contains(id))
        }
        return EventLog(records: kept.reversed())
    }

    /// Whether `id` is a member, at any depth, or an instance of `group`.
    package static func isInside(_ id: String, _ group: String) -> Bool {
        id.hasPrefix(group + ".") || id.hasPrefix(group + "[")
    }

    // MARK: - Looking things up

    package func all(_ event: String, step: String? = nil, group: String? = nil) -> [Record] {
        records.filter { record in
            record.event == event && (step == nil || record.step == step) && (group == nil || record.group == group)
        }
    }

    package func first(_ event: String, step: String? = nil, group: String? = nil) -> Record? {
        all(event, step: step, group: group).first
    }

    /// The outcome of each step that has finished, by id.
    package var outcomes: [String: String] {
        Dictionary(all("step.finished").map { ($0.step ?? "", $0.outcome ?? "") }, uniquingKeysWith: { $1 })
    }

    package func finished(_ step: String) -> Record? { first("step.finished", step: step) }

    /// Ids of the steps that were started, in the order of their starts.
    package var startOrder: [String] { all("step.started").compactMap(\.step) }

    package var runFinished: Record? { first("run.finished") }

    /// Ids in the error summary, in its order; a group's id, or `run`, for what is not a step's.
    package var errors: [String] {
        (runFinished?["errors"]?.array ?? []).map { $0["step"]?.string ?? $0["group"]?.string ?? "run" }
    }

    /// All that a step wrote, or what it wrote on one stream.
    package func output(of step: String, stream: String? = nil) -> String {
        all("step.output", step: step).filter { stream == nil || $0["stream"]?.string == stream }
            .compactMap { $0["text"]?.string }.joined()
    }

    /// How long a step ran, without the time for which the run was paused meanwhile; nil where it did not run.
    package func unpausedTime(of step: String) -> Double? {
        guard let start = first("step.started", step: step)?.time, let end = finished(step)?.time else { return nil }
        let pauses = zip(all("run.paused"), all("run.resumed")).map { min($1.time, end) - min($0.time, end) }
        return end - start - pauses.reduce(0, +)
    }

    /// How many of the steps that `isCounted` answers for ran at once, at most.
    package func maximumRunning(_ isCounted: (String) -> Bool = { _ in true }) -> Int {
        var running = 0
        var maximum = 0
        var started: Set<String> = []
        for record in records {
            guard let step = record.step, isCounted(step) else { continue }
            if record.event == "step.started", started.insert(step).inserted {
                running += 1
                maximum = max(maximum, running)
            } else if record.event == "step.finished", started.remove(step) != nil {
                running -= 1
            }
        }
        return maximum
    }
}
