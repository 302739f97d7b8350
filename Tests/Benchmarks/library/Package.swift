// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "library-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "flowrun", path: "../../..")],
    targets: [
        .executableTarget(
            name: "LibraryBenchmark", dependencies: [.product(name: "AsyncOperations", package: "flowrun")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
