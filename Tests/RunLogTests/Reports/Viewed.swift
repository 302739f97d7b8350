import RunLog

/// A reporter together with the view that it reads, which is told of each event first.
final class Viewed<Reader: Reporter>: Reporter {
    private let view = RunView()
    let reporter: Reader

    init(_ make: (RunView) -> Reader) { reporter = make(view) }

    func report(_ event: RunEvent) {
        view.report(event)
        reporter.report(event)
    }
}
