// Codes about the file and its YAML: FR01xx.
extension DiagnosticCode {
    var textDetails: DiagnosticExplanation {
        switch self {
        case .unreadableFile:
            DiagnosticExplanation(
                "the file cannot be read",
                """
                There is no such file, it may not be read, or it is not a regular file. Directories, pipes and devices are
                refused by their kind, because reading from a pipe could block forever.
                """,
                remedy: "check the path; to read from a pipe, give `-` and connect the pipe to standard input.")
        case .fileTooLarge:
            DiagnosticExplanation(
                "the file is too large",
                "A workflow file may have up to 64 MiB, which is room for half a million steps.",
                remedy: "check that this is the file you mean; split the workflow into several files.")
        case .invalidEncoding:
            DiagnosticExplanation(
                "the file is not UTF-8",
                """
                A workflow file is UTF-8, with or without a byte order mark. Other bytes would reach commands and logs
                as something other than what was meant.
                """,
                remedy: "save the file as UTF-8, for instance with `iconv -f ISO-8859-1 -t UTF-8`.")
        case .controlCharacter:
            DiagnosticExplanation(
                "control character in the file",
                """
                YAML allows no control characters but tab and line ends, and no program can be given a NUL character as
                an argument or in its environment.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: \"echo \\0\"",
                remedy: "remove the character, or write it as an escape in double quotes, such as \"\\e\".")
        case .yamlSyntax:
            DiagnosticExplanation(
                "not YAML",
                """
                The text does not follow the rules of YAML. The most frequent reasons: a second `: ` in a value without
                quotes, a tab as indentation, a line that is indented unlike its neighbours, a bracket or a quote
                that is not closed. Between braces or brackets a value that has brackets, a comma or `: ` in it needs
                quotes as a whole: `{ if: "${{ always() }}" }`.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: say price: ten",
                remedy: "quote the value: run: 'say price: ten'")
        case .duplicateKey:
            DiagnosticExplanation(
                "the same key twice",
                """
                A mapping has each key once. Other tools keep the last of two and silently drop the first; flowrun names
                both places. Quotes make no difference: a and "a" are the same key.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo one\n    run: echo two",
                remedy: "remove or rename one of the two.")
        case .tagRefused:
            DiagnosticExplanation(
                "YAML tag",
                """
                A word that begins with ! is a tag in YAML, which gives a value another type than it seems to have. A
                workflow needs none; where one turns up, the value was usually meant as text.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: !secret command",
                remedy: "quote the value if the ! belongs to it, otherwise remove the tag.")
        case .mergeKeyRefused:
            DiagnosticExplanation(
                "merge key",
                """
                The key << is not part of YAML 1.2, and tools disagree about which of two values wins. Anchors and aliases
                are fine; merging is not.
                """,
                example: "version: 1\nsteps:\n  a: &a\n    run: echo a\n  b:\n    <<: *a\n    run: echo b",
                remedy: "write the keys out, or put what all steps share under `defaults`.")
        case .severalDocuments:
            DiagnosticExplanation(
                "several documents in one file",
                "A line --- after content begins a second YAML document. A workflow file holds one.",
                example: "version: 1\nsteps:\n  hello: { run: echo }\n---\nversion: 1",
                remedy: "remove the line, or move the rest to a file of its own.")
        case .nestingTooDeep:
            DiagnosticExplanation(
                "nested too deeply",
                "Mappings and lists may be nested up to 64 levels deep. Groups of groups need two levels each.",
                remedy: "look for a bracket that was never closed; flatten the groups.")
        case .aliasBudget:
            DiagnosticExplanation(
                "aliases expand too far",
                """
                Aliases of aliases grow without limit: ten lines can make a billion nodes. In one file they may
                make ten times the nodes that the file spells out, and always ten thousand.
                """,
                remedy: "write out what is meant, or use `matrix` or `for-each` to make many steps of one.")
        case .unknownAnchor:
            DiagnosticExplanation(
                "alias without an anchor",
                """
                A value that begins with * is an alias: it repeats the node that an anchor & of the same name marked
                further up. There is no such anchor before this place.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    env: *common",
                remedy: "mark the node where it is first written, as in `env: &common { A: b }`, or quote the text.")
        case .recursiveAlias:
            DiagnosticExplanation(
                "alias inside itself",
                "The alias is inside the node that it refers to, so expanding it would never end.",
                example: "version: 1\nsteps: &all\n  hello:\n    run: echo\n    env: *all",
                remedy: "write out what is meant.")
        case .emptyDocument:
            DiagnosticExplanation(
                "nothing in the file",
                "The file is empty, or has comments only. An empty workflow is most likely a wrong path or lost text.",
                example: "# nothing here",
                remedy: "the smallest workflow has `version: 1`, and one step under `steps:`.")
        case .yamlVersion:
            DiagnosticExplanation(
                "unknown YAML version",
                "The line %YAML names the version of YAML that the file is written in. flowrun reads 1.2 and 1.1.",
                example: "%YAML 2.0\n---\nversion: 1",
                remedy: "remove the line.")
        default:
            DiagnosticExplanation(
                "a key that is not a name",
                """
                YAML allows lists and mappings as keys; in a workflow every key is a word. Two braces at the start of a
                value, as templates have them, are such a key.
                """,
                example: "version: 1\nname: {{ title }}\nsteps:\n  hello: { run: echo }",
                remedy: "quote the text if the braces belong to it.")
        }
    }
}
