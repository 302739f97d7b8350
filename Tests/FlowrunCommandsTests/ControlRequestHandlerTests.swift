import Basics
import FlowrunTestSupport
import Glibc
import Planning
import Processes
import RunLog
import Running
import Testing

@testable import FlowrunCommands

/// What a run answers to `flowrun ctl`.
struct ControlRequestHandlerTests {
    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `a run that is over says so, and takes no request while its log is written`() throws {
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([.step("a")], file: "flow.yml")).plan)
        let runner = WorkflowRunner(plan, options: RunOptions(), reporters: [])
        // Before the start, so that nothing is started.
        runner.interrupt(by: SIGINT)
        var isOver = false
        runner.start { _ in isOver = true }
        #expect(isOver)

        let handler = ControlRequestHandler(runner: runner, view: RunView())
        for request in [ControlRequest.pause(freezing: false), .pause(freezing: true), .resume, .jobs(3)] {
            let answer = String(decoding: handler.reply(to: request), as: UTF8.self)
            #expect(answer == #"{"v":1,"error":"the run has ended already: cancelled"}"#)
        }
        let cancel = String(decoding: handler.reply(to: ControlRequest.cancel(step: nil)), as: UTF8.self)
        #expect(cancel == #"{"v":1,"message":"the run has ended already: cancelled"}"#)
        let answer = handler.reply(to: ControlRequest.status).withUnsafeBytes { JSONObject($0) }
        let status = try #require(answer.flatMap { RunStatus($0) })
        #expect(status.outcome == .cancelled)
        let text = StatusPrinter(status).text
        #expect(text.hasPrefix("flow.yml: over, cancelled, but its log is still being written (run"))
    }

    @Test(arguments: [
        (#"{"v":1,"request":"cancel","step":123}"#, "`cancel` takes `step`, a text, not a whole number"),
        (#"{"v":1,"request":"cancel","step":null}"#, "`cancel` takes `step`, a text, not null"),
        (#"{"v":1,"request":"cancel","step":["a"]}"#, "`cancel` takes `step`, a text, not a list"),
        (#"{"v":1,"request":"cancel","stpe":"a"}"#, "`cancel` does not know `stpe`; it takes `step`, a text"),
        (#"{"v":1,"request":"cancel","step":"a","step":"b"}"#, "the request is not a JSON object"),
        (#"{"v":1,"request":"pause","stop":"yes"}"#, "`pause` takes `stop`, true or false, not a text"),
        (#"{"v":1,"request":"resume","now":true}"#, "`resume` does not know `now`; it takes no more fields"),
        (#"{"v":1,"request":"status","step":"a"}"#, "`status` does not know `step`; it takes no more fields"),
        (#"{"v":1,"request":"jobs","n":"4"}"#, "`jobs` takes `n`, a whole number, not a text"),
        (#"{"v":1,"request":"jobs","n":1.5}"#, "`jobs` takes `n`, a whole number, not a number"),
        (#"{"v":1,"request":"jobs"}"#, "`jobs` needs `n`, a whole number"),
        (#"{"v":1,"request":"jobs","n":0}"#, "at least one step must be allowed to run"),
        (#"{"v":1,"request":"why","step":false}"#, "`why` takes `step`, a text, not false"),
        (#"{"v":1,"request":"why"}"#, "`why` needs `step`, a text"),
        (
            #"{"v":1,"request":"stop"}"#,
            "unknown request `stop`; expected `await`, `cancel`, `jobs`, `lend`, `pause`, `resume`, `status` or `why`"
        ),
        (#"{"v":1}"#, "no request; expected `await`, `cancel`, `jobs`, `lend`, `pause`, `resume`, `status` or `why`"),
        (#"{"v":2,"request":"cancel"}"#, "this run understands version 1 of requests only"),
        (#"["cancel"]"#, "the request is not a JSON object"),
    ])
    func `a request that is not understood says what is accepted`(line: String, message: String) {
        let error = #expect(throws: ControlRequestError.self) { try ControlRequest(line: Array(line.utf8)) }
        #expect(error?.message == message)
    }

    @Test(arguments: [
        ControlRequest.status, .pause(freezing: false), .pause(freezing: true), .resume, .cancel(step: nil),
        .cancel(step: "a"), .jobs(3), .why(step: "a"),
    ])
    func `what ctl writes is understood`(request: ControlRequest) throws {
        #expect(try ControlRequest(line: request.line) == request)
    }
}
