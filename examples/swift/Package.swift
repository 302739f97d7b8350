// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "errands",
    dependencies: [.package(name: "flowrun", path: "../..")],
    targets: [
        .executableTarget(
            name: "Errands", dependencies: [.product(name: "AsyncOperations", package: "flowrun")])
    ]
)
