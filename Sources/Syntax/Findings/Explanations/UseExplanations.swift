extension DiagnosticCode {
    /// Codes about files and templates that groups use.
    var useDetails: DiagnosticExplanation {
        switch self {
        case .unusableFile:
            DiagnosticExplanation(
                "a file that cannot be used",
                """
                `uses` takes the path of a workflow file, relative to the folder of the file that says it. The file has to
                be there when the workflow is checked, and inside the folder of the first file, unless `--allow-outside`
                is given.
                """,
                example: "version: 1\nsteps:\n  lint:\n    uses: ci/missing.yml",
                remedy: "write the path of a file that is there, or move the file.")
        case .unknownTemplate:
            DiagnosticExplanation(
                "an unknown template",
                """
                `uses` without a slash and without `.yml` or `.yaml` at its end is the name of one of the `templates` of
                the same file, and the file declares none of this name.
                """,
                example: """
                    version: 1
                    templates:
                      install:
                        steps:
                          fetch: { run: ./fetch }
                    steps:
                      tools:
                        uses: instal
                      libraries:
                        uses: install
                    """,
                remedy: "write the name of a template, or the path of a file.")
        case .unusedTemplate:
            DiagnosticExplanation(
                "a template that nothing uses",
                "No group of the file uses the template, so that nothing of it runs.",
                example: """
                    version: 1
                    templates:
                      install:
                        steps:
                          fetch: { run: ./fetch }
                    steps:
                      hello: { run: echo hello }
                    """,
                remedy: "use it, or remove it.")
        case .wrongArgument:
            DiagnosticExplanation(
                "`with` and `params` do not fit",
                """
                `with` gives values to the parameters of the file or template that a group uses. It has to give those that
                are required, can give only those that are declared, and a value has to be one that the parameter takes.
                """,
                example: """
                    version: 1
                    templates:
                      install:
                        params:
                          package: { required: true }
                        steps:
                          fetch: { run: './fetch "$package"' }
                    steps:
                      tools:
                        uses: install
                        with: { pakage: tools }
                    """,
                remedy: "write under `with` what the `params` of the file or template say.")
        default:
            DiagnosticExplanation(
                "files or templates that use each other",
                """
                A file or a template uses itself, directly or through others, so that the workflow would have no end.
                The finding shows each hop.
                """,
                example: """
                    version: 1
                    templates:
                      a:
                        steps:
                          b: { uses: a }
                    steps:
                      first: { uses: a }
                    """,
                remedy: "remove one of the `uses`.")
        }
    }
}
