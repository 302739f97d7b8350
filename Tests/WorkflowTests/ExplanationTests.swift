import FlowrunTestSupport
import Syntax
import Testing
import Workflow

struct `The long form of a finding` {
    /// What the planner finds; its examples decode without a finding.
    static let plannersCodes: Set<DiagnosticCode> = [
        .unorderedRead, .possiblyAbsent, .valueType, .notKnownHere,
        .unknownDependency, .unknownStep, .repeatedDependency, .dependencyInsideGroup, .dependencyCycle,
        .sharedValueCycle,
        .dependencyAcrossHook, .passedFailure,
        .coveredMutex, .poolExceeded, .unknownPool, .unusedPool,
    ]

    @Test(arguments: DiagnosticCode.allCases)
    func `says what it means and what to do`(code: DiagnosticCode) {
        let details = code.details
        #expect(!details.title.isEmpty && !details.title.hasSuffix("."))
        #expect(details.meaning.hasSuffix(".") && details.meaning.utf8.count > 60)
        #expect(details.remedy.hasSuffix(".") || details.remedy.contains(": '"))
        #expect(code.explanation.hasPrefix("\(code.rawValue): \(code.title)\n\n"))
        #expect(code.explanation.split(separator: "\n").allSatisfy { $0.count <= 120 })
        #expect(Set(DiagnosticCode.allCases.map(\.title)).count == DiagnosticCode.allCases.count)
    }

    @Test(arguments: DiagnosticCode.allCases.filter { !$0.details.example.isEmpty })
    func `has an example that shows it`(code: DiagnosticCode) {
        let found = Checked(code.details.example + "\n").diagnostics
        let codes = found.filter { code == .makeJobs || $0.severity != .note }.map(\.code)
        if Self.plannersCodes.contains(code) {
            #expect(codes == [])
        } else {
            #expect(codes.first == code)
        }
    }
}
