import AsyncOperations
import Foundation

// Shows a picture like a cell of a table: downloaded, decrypted and tilt-shifted, each by an operation of its own. With
// `--offline`, the download fails; with `--bundled`, a picture that comes with the program takes its place.

let arguments = CommandLine.arguments.dropFirst()
let server = Server(isReachable: !arguments.contains("--offline"))

struct NotAnImage: Error {}

let download = AsyncOperation("download") { try server.image() }
let key = AsyncOperation("key") { Server.key }
let decrypt = AsyncOperation("decrypt", from: download.output, key.output) { bytes, key in
    guard let image = Image(String(decoding: bytes.map { $0 ^ key }, as: UTF8.self)) else { throw NotAnImage() }
    return image
}

// Nothing is looked up at run time: the input is named where it is used, and both have the same type.
guard let bundled = Image(bundledImage) else { throw NotAnImage() }
let input = arguments.contains("--bundled") ? Output(bundled) : decrypt.output
let tiltShift = AsyncOperation("tilt-shift", from: input) { image in image.tiltShifted }

// Starts after any end of the filter, and can do without a picture.
let show = AsyncOperation("show", from: tiltShift.output.optional) { image in
    print(image?.text ?? "(a grey rectangle)\n", terminator: "")
}

let queue = try AsyncOperationQueue("images", maxConcurrentOperationCount: 2)
try queue.add(show, tiltShift)
if !arguments.contains("--bundled") { try queue.add(decrypt, key, download) }
try await show.value

switch await tiltShift.result {
case .success: break
case .failure(.notRun(let cause)):
    print("no picture, because of \(cause): \(await download.result)")
    exit(1)
case .failure(let end): print("no picture: \(end)")
}
