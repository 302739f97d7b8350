internal import Basics

/// Tells whoever presses Ctrl-C what is being stopped, where the log goes elsewhere or has no words.
package final class StoppingNotice: Reporter {
    private let sink: any RecordSink

    package init(sink: any RecordSink) {
        self.sink = sink
    }

    package func report(_ event: RunEvent) {
        guard case .runCancelRequested(let stopping) = event.kind else { return }
        var text = LogText(isColored: false)
        text.add("flowrun: \(stopping.words)")
        text.newline()
        text.buffer.withUnsafeBytes(sink.write)
    }
}
