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

// `make test` sets this: tests take a third of the time on optimised code, with all checks of a debug build. Others that
// build the package never see these flags, since SwiftPM refuses them in a dependency.
let isTested = Context.environment["FLOWRUN_TESTED"] != nil
let optimized: [SwiftSetting] =
    isTested
    ? [
        .unsafeFlags(
            ["-O", "-whole-module-optimization", "-num-threads", "2", "-assert-config", "Debug"],
            .when(configuration: .debug))
    ] : []
// A static program starts in half the time, and is what is released, with its own small blocks of memory.
let blocks = ["malloc", "free", "calloc", "realloc", "posix_memalign", "malloc_usable_size"]
let staticExecutable: [LinkerSetting] =
    isTested
    ? [
        .unsafeFlags(
            ["-static-executable", "-use-ld=lld"] + blocks.flatMap { ["-Xlinker", "--wrap=\($0)"] },
            .when(configuration: .debug))
    ] : []

// Data goes one way: text, nodes, model, plan, operations, events, reports. A target imports only
// what its line names; `make test` checks that.
func target(
    _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: settings + optimized)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = []
) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: settings)
}

// The example programs, which are a package of their own too. Tests run them.
func example(_ name: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["AsyncOperations"], path: "examples/swift/\(name)", exclude: ["README.md"],
        swiftSettings: settings)
}

let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
// Arrays that one place owns: unlike `Array` they need no class made for each element type at the start of a run.
let containers = Target.Dependency.product(name: "BasicContainers", package: "swift-collections")
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
        // `flowrun schema` prints them.
        .target(name: "CSchemas"),
        target("Platform"),
        target("Basics", ["CLinux", "CVector"]),
        target("Syntax", ["CLibYAML", "Basics", containers], resources: [.embedInCode("Findings/Explanations")]),
        target("Workflow", ["Basics", "Syntax"]),
        target("Planning", ["Basics", "Scheduling", "Syntax", "Workflow", containers]),
        target("Scheduling", [heap]),
        target("AsyncOperations", ["Platform", "Scheduling", heap]),
        target("Processes", ["Basics", "CLinux", containers, heap]),
        target("RunLog", ["Basics"]),
        target(
            "Running",
            [
                "Basics", "Platform", "CMessageDigest", "Syntax", "Workflow", "Planning", "Scheduling", "Processes",
                "RunLog", deque, heap,
            ]),
        target(
            "FlowrunCommands",
            [
                "Basics", "CLinux", "CSchemas", "Syntax", "Workflow", "Planning", "WorkflowConversion", "Processes",
                "RunLog", "Running",
            ]),
        .executableTarget(
            name: "flowrun", dependencies: ["FlowrunCommands"], swiftSettings: settings,
            linkerSettings: staticExecutable),
        .target(
            name: "FlowrunTestSupport",
            dependencies: ["CLinux", "Platform", "Processes", "RunLog", "Syntax", "Workflow"],
            path: "Tests/FlowrunTestSupport", swiftSettings: settings),

        // Other tools' files, for `init --from`, apart with their tests; only the commands import them. With a manifest
        // of its own this folder would keep others from depending on a version of the package.
        target("WorkflowConversion", ["Syntax", "Workflow"], path: "Packages/Convert/Sources"),
        tests(
            "WorkflowConversionTests",
            ["Syntax", "Workflow", "WorkflowConversion", "Planning", "FlowrunTestSupport"],
            path: "Packages/Convert/Tests", exclude: ["Samples"]),

        example("ChainOfRequests"),
        example("MixedOperations"),
        example("DependenciesWithData"),
        example("TimeoutsOverCalls"),
        example("WatchingForDeadlock"),

        tests("BasicsTests", ["Basics", "FlowrunTestSupport"]),
        tests("SyntaxTests", ["Syntax", "FlowrunTestSupport"]),
        tests("WorkflowTests", ["Basics", "Syntax", "Workflow", "FlowrunTestSupport"]),
        tests(
            "PlanningTests", ["Syntax", "Workflow", "Planning", "FlowrunTestSupport"],
            exclude: ["BadCases/Documents"]),
        tests("SchedulingTests", ["Scheduling", "FlowrunTestSupport"]),
        tests("AsyncOperationsTests", ["AsyncOperations", "Scheduling", "Platform", "FlowrunTestSupport"]),
        tests("ProcessesTests", ["Basics", "Processes", "FlowrunTestSupport"]),
        tests("RunLogTests", ["Basics", "RunLog", "Syntax", "Workflow", "FlowrunTestSupport"]),
        tests(
            "RunningTests",
            [
                "Syntax", "Workflow", "Planning", "Scheduling", "Processes", "RunLog", "Running",
                "FlowrunTestSupport",
            ]),
        tests(
            "FlowrunCommandsTests",
            [
                "Basics", "CLinux", "Syntax", "Workflow", "Planning", "Processes", "RunLog", "Running",
                "FlowrunCommands", "FlowrunTestSupport",
            ]),
        tests("FlowrunEndToEndTests", ["Workflow", "FlowrunTestSupport"]),
        tests(
            "FlowrunDocumentationTests",
            ["Basics", "Workflow", "RunLog", "FlowrunCommands", "FlowrunTestSupport"],
            exclude: ["Kinds", "WorkflowShapes.json"]),
    ]
)

// Links libFuzzer, so only `Tests/Scripts/fuzz.py` asks for it.
if Context.environment["FLOWRUN_FUZZING"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzzing", dependencies: ["Basics", "Syntax", "Workflow", "Planning", "RunLog"],
            path: "Tests/Fuzzing", swiftSettings: settings))
}
