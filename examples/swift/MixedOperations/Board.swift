import AsyncOperations
import Foundation

/// Shows which stage each operation is in: a line for each change or, on a terminal, a live table.
actor Board {
    /// The stages of an operation so far, and whether it has ended.
    private struct Row {
        let id: AsyncOperationID
        var stages: [String] = []
        var isFinished: Bool
    }

    private let isTerminal = isatty(1) == 1
    private var rows: [Row] = []
    private var watchers: [(isDone: ([Row]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

    /// Gives an operation or a queue a row.
    func add(_ id: AsyncOperationID, isFinished: Bool = false) {
        rows.append(Row(id: id, isFinished: isFinished))
    }

    func show(_ event: AsyncOperationQueue.Event) {
        guard let number = rows.firstIndex(where: { $0.id == event.id }) else { return }
        let stage = event.kind.stage
        rows[number].stages.append(stage)
        if case .finished = event.kind { rows[number].isFinished = true }
        if isTerminal { draw() } else { write("\(event.id.name): \(stage)\n") }
        watchers.removeAll { watcher in
            guard watcher.isDone(rows) else { return false }
            watcher.continuation.resume()
            return true
        }
    }

    /// Waits until an operation is or was in a stage.
    func wait(for name: String, _ stage: String) async {
        await wait { rows in rows.contains { $0.id.name == name && $0.stages.contains(stage) } }
    }

    /// Waits until everything that has a row has ended.
    func waitForAll() async {
        await wait { rows in rows.allSatisfy(\.isFinished) }
    }

    private func wait(until isDone: @escaping ([Row]) -> Bool) async {
        if isDone(rows) { return }
        await withCheckedContinuation { watchers.append((isDone, $0)) }
    }

    func say(_ text: String) { if isTerminal { draw(text) } else { write("\(text)\n") } }

    /// Draws the table at the top of the screen, and puts the cursor back where the user types.
    private func draw(_ text: String = "") {
        let lines = rows.map { row in
            row.id.name.padding(toLength: 20, withPad: " ", startingAt: 0) + row.stages.joined(separator: " > ")
        }
        let shown = lines.suffix(20).map { "\($0)\u{1B}[K\n" }.joined()
        write("\u{1B}7\u{1B}[H\(shown)\(text)\u{1B}[K\u{1B}8")
    }

    /// Clears the screen and puts the prompt below the table.
    func prompt() { if isTerminal { write("\u{1B}[23;1H\u{1B}[J> ") } }

    func clear() { if isTerminal { write("\u{1B}[2J") } }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}

extension AsyncOperationQueue.Event.Kind {
    /// The stage in a word.
    fileprivate var stage: String {
        switch self {
        case .added: "added"
        case .ready: "ready"
        case .started: "started"
        case .cancelRequested: "told to stop"
        case .retry: "tried again"
        case .suspended: "stopped"
        case .resumed: "goes on"
        case .finished(let outcome): "\(outcome)"
        }
    }
}
