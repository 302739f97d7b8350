import Synchronization

/// A stand-in for a server on the network, with three pages and one that never comes.
final class Server: Sendable {
    /// Called with every request that comes in.
    private let log: @Sendable (Request) -> Void
    private let waiting = Mutex<[@Sendable (Int, String) -> Void]>([])

    init(log: @escaping @Sendable (Request) -> Void) { self.log = log }

    /// Calls `completion` once with a status and a text. It cannot be called off.
    func send(_ request: Request, completion: @escaping @Sendable (_ status: Int, _ text: String) -> Void) {
        log(request)
        switch request.path {
        case "/comments": completion(200, "Ada: first\nMax: I agree\n")
        case "/empty": completion(200, "")
        case "/broken": completion(200, "<html>\n")
        case "/slow": waiting.withLock { $0.append(completion) }
        default: completion(404, "")
        }
    }
}
