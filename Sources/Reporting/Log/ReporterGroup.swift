package import RunEvents

/// Several reporters of one run as one: each gets every event, in the order given, before the next one does.
///
/// A live region or heartbeat stands last, behind the reporters whose sinks it wraps:
///
///     let region = LiveRegion(terminal: stderr, width: { TerminalDevice.width(of: 2) })
///     let log = TextReporter(sink: region.sink(over: stdout), options: options)
///     let reporter = ReporterGroup([log, JSONLinesReporter(sink: file), region])
package final class ReporterGroup: Reporter {
    private let reporters: [any Reporter]

    package init(_ reporters: [any Reporter]) {
        self.reporters = reporters
    }

    package func report(_ event: RunEvent) {
        for reporter in reporters { reporter.report(event) }
    }

    /// The earliest time that one of them asks for.
    package func tick(at elapsed: Duration) -> Duration? {
        var earliest: Duration?
        for reporter in reporters {
            guard let next = reporter.tick(at: elapsed) else { continue }
            earliest = min(earliest ?? next, next)
        }
        return earliest
    }
}
