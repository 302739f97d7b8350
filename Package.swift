// swift-tools-version: 6.2
import PackageDescription

// One array for every target: what one file may do, every file may do.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .treatAllWarnings(as: .error),
]

// Data goes one way: text, nodes, model, plan, operations, events, reports. A target imports only
// what its line names; `make test` checks that.
func target(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

// The example programs, which are a package of their own too. Tests run them.
func example(_ name: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["AsyncOperations"], path: "examples/swift/\(name)", exclude: ["README.md"],
        swiftSettings: settings)
}

let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")

let package = Package(
    name: "flowrun",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .executable(name: "flowrun", targets: ["flowrun"]),
        .library(name: "AsyncOperations", targets: ["AsyncOperations"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0")
    ],
    targets: [
        .systemLibrary(name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CMessageDigest", pkgConfig: "libmd", providers: [.apt(["libmd-dev"])]),
        .systemLibrary(name: "CVector"),
        .target(name: "CLinux"),
        target("Platform"),
        target("Basics", ["CLinux", "CVector"]),
        target("SourceDiagnostics", ["Basics"]),
        target("YAMLSyntax", ["CLibYAML", "Basics", "SourceDiagnostics"]),
        target("WorkflowModel", ["Basics", "YAMLSyntax", "SourceDiagnostics"]),
        target("WorkflowConversion", ["YAMLSyntax", "WorkflowModel", "SourceDiagnostics"]),
        target("WorkflowPlanning", ["Basics", "WorkflowModel", "SourceDiagnostics"]),
        target("OperationScheduling", [heap]),
        target("AsyncOperations", ["Platform", "OperationScheduling", heap]),
        target("ProcessExecution", ["Basics", "CLinux", heap]),
        target("RunEvents", ["Basics"]),
        target("RunJournal", ["Basics", "RunEvents"]),
        target("RunControl", ["Basics", "CLinux", "ProcessExecution"]),
        target(
            "WorkflowExecution",
            [
                "Basics", "Platform", "CMessageDigest", "WorkflowModel", "WorkflowPlanning", "OperationScheduling",
                "ProcessExecution",
                "RunEvents",
                "SourceDiagnostics", deque, heap,
            ]),
        target("Reporting", ["Basics", "RunEvents", "SourceDiagnostics"]),
        target(
            "FlowrunCommands",
            [
                "Basics", "CLinux", "SourceDiagnostics", "WorkflowModel", "WorkflowPlanning", "WorkflowConversion",
                "ProcessExecution", "RunEvents", "RunJournal", "RunControl", "WorkflowExecution", "Reporting",
            ]),
        .executableTarget(
            name: "flowrun", dependencies: ["FlowrunCommands"], exclude: ["start.order"], swiftSettings: settings),
        .target(
            name: "FlowrunTestSupport",
            dependencies: [
                "CLinux", "Platform", "ProcessExecution", "RunEvents", "SourceDiagnostics", "WorkflowModel",
            ],
            path: "Tests/FlowrunTestSupport", swiftSettings: settings),

        example("ChainOfRequests"),
        example("MixedOperations"),
        example("DependenciesWithData"),
        example("TimeoutsOverCalls"),
        example("WatchingForDeadlock"),

        tests("BasicsTests", ["Basics", "FlowrunTestSupport"]),
        tests("SourceDiagnosticsTests", ["SourceDiagnostics", "FlowrunTestSupport"]),
        tests("YAMLSyntaxTests", ["YAMLSyntax", "SourceDiagnostics", "FlowrunTestSupport"]),
        tests(
            "WorkflowModelTests", ["Basics", "WorkflowModel", "YAMLSyntax", "SourceDiagnostics", "FlowrunTestSupport"]),
        tests(
            "WorkflowConversionTests",
            [
                "WorkflowConversion", "WorkflowPlanning", "WorkflowModel", "YAMLSyntax", "SourceDiagnostics",
                "FlowrunTestSupport",
            ],
            exclude: ["Samples"]),
        tests(
            "WorkflowPlanningTests",
            ["WorkflowPlanning", "WorkflowModel", "YAMLSyntax", "SourceDiagnostics", "FlowrunTestSupport"],
            exclude: ["BadCases/Documents"]),
        tests("OperationSchedulingTests", ["OperationScheduling", "FlowrunTestSupport"]),
        tests("AsyncOperationsTests", ["AsyncOperations", "OperationScheduling", "Platform", "FlowrunTestSupport"]),
        tests("ProcessExecutionTests", ["Basics", "ProcessExecution", "FlowrunTestSupport"]),
        tests(
            "WorkflowExecutionTests",
            [
                "WorkflowExecution", "WorkflowPlanning", "WorkflowModel", "YAMLSyntax", "OperationScheduling",
                "ProcessExecution", "RunEvents", "SourceDiagnostics", "FlowrunTestSupport",
            ]),
        tests("RunControlTests", ["RunControl", "FlowrunTestSupport"]),
        tests("RunJournalTests", ["Basics", "RunEvents", "RunJournal", "FlowrunTestSupport"]),
        tests(
            "ReportingTests",
            [
                "Basics", "Reporting", "RunEvents", "RunJournal", "SourceDiagnostics", "WorkflowModel",
                "FlowrunTestSupport",
            ]),
        tests(
            "FlowrunCommandsTests",
            [
                "Basics", "CLinux", "FlowrunCommands", "WorkflowExecution", "WorkflowPlanning", "WorkflowModel",
                "ProcessExecution", "Reporting", "RunEvents", "SourceDiagnostics", "FlowrunTestSupport",
            ]),
        tests("FlowrunEndToEndTests", ["FlowrunTestSupport"]),
        tests(
            "FlowrunDocumentationTests",
            ["FlowrunCommands", "FlowrunTestSupport", "WorkflowModel", "RunEvents", "Basics"],
            exclude: ["Kinds"]),
    ]
)
