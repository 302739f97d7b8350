import AsyncOperations

/// A comment under an article.
struct Comment: Sendable {
    let author: String
    let text: String
}

struct Request: Sendable {
    let path: String
}

enum FetchError: Error {
    case invalidPath(String)
    case status(Int)
    case malformed(line: String)
}

/// The chain: make a request, send it, parse the answer. Each job gets what the one before returned, and the first that
/// throws ends the chain. A test can pass another server.
func fetchComments(from server: Server) -> Waterfall<String, [Comment], FetchError> {
    Waterfall("comments", from: String.self, failure: FetchError.self)
        .then("request") { path throws(FetchError) in
            guard path.hasPrefix("/") else { throw .invalidPath(path) }
            return Request(path: path)
        }
        .then("send", timeout: .seconds(60), whenStopped: .leave) { request, completion in
            server.send(request) { status, text in
                completion.finish(status == 200 ? .success(text) : .failure(.status(status)))
            }
        }
        .then("parse") { text throws(FetchError) in
            var comments: [Comment] = []
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { throw .malformed(line: String(line)) }
                comments.append(Comment(author: parts[0], text: parts[1]))
            }
            return comments
        }
}
