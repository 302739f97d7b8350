import FlowrunTestSupport
import Glibc
import ProcessExecution
import Reporting
import Testing
import WorkflowExecution
import WorkflowPlanning

@testable import FlowrunCommands

/// What a run answers to `flowrun ctl`.
struct ControlRequestHandlerTests {
    @Test @EventLoopActor func `a run that is over says so, and takes no request while its log is written`() throws {
        EventLoopThread.ensureRunning()
        let plan = try #require(Planner.plan(WorkflowSketch.workflow([.step("a")], file: "flow.yml")).plan)
        let runner = WorkflowRunner(plan, options: RunOptions(), reporters: [])
        // Before the start, so that nothing is started.
        runner.interrupt(by: SIGINT)
        var isOver = false
        runner.start { _ in isOver = true }
        #expect(isOver)

        let handler = ControlRequestHandler(runner: runner, record: RunRecord())
        for request in [ControlRequest.pause(freezing: false), .pause(freezing: true), .resume, .jobs(3)] {
            let answer = String(decoding: handler.answer(request.line), as: UTF8.self)
            #expect(answer == #"{"v":1,"error":"the run has ended already: cancelled"}"#)
        }
        let cancel = String(decoding: handler.answer(ControlRequest.cancel(step: nil).line), as: UTF8.self)
        #expect(cancel == #"{"v":1,"message":"the run has ended already: cancelled"}"#)
        let status = try #require(JSONFields(handler.answer(ControlRequest.status.line)))
        #expect(status.string("outcome") == "cancelled")
        let text = StatusPrinter(status).text
        #expect(text.hasPrefix("flow.yml: over, cancelled, but its log is still being written (run"))
    }
}
