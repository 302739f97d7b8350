import Runtime

/// Which functions of the library take a lock, innermost first, for a trace.
struct CallChain: CustomStringConvertible {
    let description: String

    init() {
        let frames = (try? Backtrace.capture(limit: 32).symbolicated())??.frames ?? []
        var calls: [String] = []
        for frame in frames.drop(while: { $0.symbol?.name.contains("withLock") != true }) {
            guard let symbol = frame.symbol else { continue }
            if symbol.name.contains("ProgramRun") || symbol.name.contains("runSynchronously") { break }
            let isGlue = ["withLock", "partial apply", "thunk", "swift", "?"].contains { symbol.name.contains($0) }
            guard !isGlue, let place = symbol.sourceLocation else { continue }
            let name = symbol.name.split(separator: " in ").last.map(String.init) ?? symbol.name
            let file = place.path.split(separator: "/").last ?? ""
            calls.append("\(name) \(file):\(place.line)")
        }
        description = calls.prefix(4).joined(separator: " < ")
    }
}
