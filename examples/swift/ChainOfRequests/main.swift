import AsyncOperations
import Foundation

// Fetches the comments at a path. With `--leave`, cancels as soon as the server has the request, like a page that is
// left while it loads.

let arguments = CommandLine.arguments.dropFirst()
let path = arguments.first { !$0.hasPrefix("--") } ?? "/comments"
let (requests, noted) = AsyncStream.makeStream(of: Request.self)
let comments = fetchComments(from: Server { noted.yield($0) }).operation(path)
comments.addCompletion { _ in noted.finish() }

try comments.start()
for await request in requests {
    print("GET \(request.path)")
    if arguments.contains("--leave") { comments.cancel() }
}
switch await comments.result {
case .success(let comments):
    for comment in comments { print("\(comment.author) wrote: \(comment.text)") }
    print("\(comments.count) comments")
case .failure(.failed(let error)):
    print("failed: \(error)")
    exit(1)
case .failure(let end):
    print("no comments: \(end)")
}
