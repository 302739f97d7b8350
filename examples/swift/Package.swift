// swift-tools-version: 6.2
import PackageDescription

let programs = [
    "ChainOfRequests", "MixedOperations", "DependenciesWithData", "TimeoutsOverCalls", "WatchingForDeadlock",
]

let package = Package(
    name: "examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "flowrun", path: "../..")],
    targets: programs.map { name in
        .executableTarget(
            name: name, dependencies: [.product(name: "AsyncOperations", package: "flowrun")], path: name,
            exclude: ["README.md"])
    }
)
