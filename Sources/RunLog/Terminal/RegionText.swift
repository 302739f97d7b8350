internal import Basics

/// What the live region says of a run at one moment, as lines that fit into a terminal.
struct RegionText {
    /// How much of the columns the names of steps may take where their last lines stand beside them.
    private static let titlePart = 0.4
    /// A region that is higher than this part of the rows would be in the way of the log.
    private static let heightPart = 4

    let view: RunView
    /// How long the run will still take; nil where that is not known.
    let left: Duration?
    /// The last line of a step, empty for none.
    let lastLine: (RunView.Command) -> [UInt8]

    func lines(at elapsed: Duration, in size: TerminalSize) -> [[UInt8]] {
        // The last column stays free: some terminals begin a new row as soon as it is written.
        let columns = max(1, size.columns - 1)
        let count = max(0, min(size.rows / Self.heightPart, size.rows - 3))
        var lines = [counts(at: elapsed)]
        let shown = view.longestRunning(count)
        let titles = shown.map { Array($0.title.visible.utf8) }
        let widest = titles.map { TerminalLine.columns(of: $0) }.max() ?? 0
        let width = min(max(12, Int(Double(columns) * Self.titlePart)), widest)
        for (step, title) in zip(shown, titles) {
            lines.append(line(of: step, title, padded: width, at: elapsed, columns: columns))
        }
        let more = view.runningCount - shown.count
        if more > 0, count > 0 { lines.append(Array("          and \(more) more".utf8)) }
        return lines.map { TerminalLine.cut($0, to: columns) }
    }

    private func counts(at elapsed: Duration) -> [UInt8] {
        var text = LogText(isColored: false)
        text.add("[\(view.finished)/\(view.steps)] ")
        if view.isStopping { text.add("stopping, ") } else if view.isPaused { text.add("paused, ") }
        text.add("\(view.runningCount) running, ")
        if view.failed > 0 { text.add("\(view.failed) failed, ") }
        text.add("\(view.waiting) waiting  \(TimeText.wholeSeconds(elapsed))")
        if let left, left >= .seconds(1), !view.isStopping {
            text.add(", about \(TimeText.wholeSeconds(left)) left")
        }
        return text.buffer.bytes
    }

    private func line(
        of step: RunView.Command, _ title: [UInt8], padded width: Int, at elapsed: Duration, columns: Int
    ) -> [UInt8] {
        var text = LogText(isColored: false)
        text.add(rightAlignedTo: 8) { TimeText.append(wholeSeconds: elapsed - step.start, to: &$0) }
        text.spaces(2)
        let lastLine = lastLine(step)
        guard !lastLine.isEmpty else {
            text.buffer.append(title)
            return text.buffer.bytes
        }
        let cut = TerminalLine.cut(title, to: width)
        text.buffer.append(cut)
        text.spaces(width - TerminalLine.columns(of: cut) + 2)
        text.buffer.append(lastLine)
        return text.buffer.bytes
    }
}
