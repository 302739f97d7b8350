internal import Glibc
internal import RunControl

extension RunFinder {
    /// The reply of a live run, which is not an error; ends the command with 1 and a word otherwise.
    func ask(_ request: ControlRequest, of run: String, in directory: StateDirectory) throws -> (JSONFields, [UInt8]) {
        let reply: [UInt8]
        do {
            reply = try ControlClient.ask(request.line, of: run, in: directory)
        } catch {
            switch error {
            case .notRunning: throw failed("the run `\(run)` is over")
            case .silent: throw failed("the run `\(run)` does not answer; it may be stopped, as by Ctrl-Z")
            case .refused(let error):
                throw failed("cannot ask the run `\(run)`: \(String(cString: strerror(error)).lowercased())")
            }
        }
        guard let fields = JSONFields(reply) else { throw failed("the run `\(run)` answers in no way known here") }
        if let error = fields.string("error") { throw failed(error) }
        guard fields.int("v") == ControlRequest.version else {
            throw failed("the run `\(run)` answers in a version that is not known here")
        }
        return (fields, reply)
    }
}
