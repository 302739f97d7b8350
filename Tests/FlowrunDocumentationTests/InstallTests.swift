import FlowrunTestSupport
import Testing

/// `make install` and `make uninstall`, below another root.
struct InstallTests {
    private func make(_ target: String, in test: FlowrunTest) async throws {
        let words = "BINARY=\"$0\" COMPLETIONS=\"$PWD/completions\" DESTDIR=\"$PWD/root\" PREFIX=/usr"
        let script = "exec make -s --no-print-directory -C '\(PackageFolder.path)' \(target) \(words)"
        try await test.run(launcher: ["sh", "-c", script], deadline: .seconds(300)).expect(exit: 0)
    }

    @Test func `make install puts everything there, and make uninstall takes it away`() async throws {
        let test = try FlowrunTest()
        try await make("install", in: test)
        let expected = [
            "bin/flowrun", "share/man/man1/flowrun.1", "share/man/man5/flowrun-workflow.5",
            "share/bash-completion/completions/flowrun", "share/zsh/site-functions/_flowrun",
            "share/fish/vendor_completions.d/flowrun.fish", "share/doc/flowrun/ComingFrom.md",
            "share/doc/flowrun/Recipes.md", "share/doc/flowrun/README.md",
            "share/doc/flowrun/schema/flowrun.schema.json",
            "share/doc/flowrun/examples/commands.yml",
        ]
        for file in expected { #expect(test.exists("root/usr/\(file)"), "\(file)") }
        let installed = try await test.run(launcher: ["sh", "-c", "exec root/usr/bin/flowrun --version"])
        installed.expect(exit: 0, stdout: try await test.run("--version").stdout)
        // The mark of a file with symbols is a section of that name.
        let symbols = try await test.run(launcher: ["sh", "-c", "! grep -qa '[.]symtab' root/usr/bin/flowrun"])
        symbols.expect(exit: 0)
        try await make("uninstall", in: test)
        let rest = try await test.run(launcher: ["sh", "-c", "find root -type f; find root -name '*flowrun*'"])
        rest.expect(exit: 0, stdout: "", stderr: "")
    }
}
