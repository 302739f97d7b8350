internal import Workflow

/// The text that bash reads before a script, through `$BASH_ENV`, so that it notes the command that fails.
///
/// The script behaves as without it. bash gets the script's text unchanged, so `$LINENO` and bash's own messages stay
/// the same. The traps write only to the file of notes, keep `$_`, `$?` and `PIPESTATUS`, and show neither in `set
/// -x` nor in the environment. A script that traps ERR or DEBUG itself, or looks at what is used here, is left alone.
/// Only `trap -p` and `$-` can tell the difference.
struct BashStartup: Equatable {
    /// True if functions and subshells inherit the trap, so that a note has the line inside them.
    private let reachesFunctions: Bool
    /// The line from which nothing may be trapped but DEBUG; nil if ERR may stay to the end.
    private let tail: Int?

    /// nil if the shell is not bash, for a script that may not be watched, and for one of a single command, which
    /// needs no watching.
    init?(_ script: String, for shell: Shell) {
        guard !ScriptOutline.isOneCommand(script), Self.reads(shell) else { return nil }
        let outline = ScriptOutline(script)
        guard !outline.forbidsWatching else { return nil }
        reachesFunctions = outline.hasFunctionsOrSubshells && !outline.readsOtherScripts
        tail = outline.tail
    }

    /// Returns true if a shell is bash that takes its script by `-c` and reads `$BASH_ENV`: not a login shell, not
    /// POSIX.
    private static func reads(_ shell: Shell) -> Bool {
        guard let name = shell.arguments.first, name == "bash" || name.hasSuffix("/bash"),
            let last = shell.arguments.last, last.hasPrefix("-"), last.hasSuffix("c"), shell.arguments.count > 1
        else { return false }
        let words = ["--noprofile", "--norc", "pipefail", "errexit", "nounset"]
        return shell.arguments.dropFirst().allSatisfy { argument in
            words.contains(argument)
                || argument.hasPrefix("-") && argument.dropFirst().allSatisfy { "eucox".contains($0) }
        }
    }

    /// Variables of an environment with which bash would read something else, or nothing.
    static let conflicts = ["BASH_ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS"]

    /// The commands. The notes are appended after them, to the file that `$BASH_ENV` names.
    var text: String {
        var setUp = reachesFunctions ? "set -E; " : ""
        setUp += "trap -- \(trap("case $- in *e*) \(note("E"));; esac")) ERR; "
        if let tail {
            // The last command of a script replaces bash, but only if neither ERR nor EXIT is trapped when bash gets
            // there. So from the command before it on, DEBUG notes what starts; it does not count as trapped.
            let release = keepingLastWord("builtin trap - ERR")
            let watch = "((LINENO<\(tail)))||[[ ${BASH_SOURCE-} ]]||{ \(note("D")); \(release); }"
            setUp += "trap -- \(trap(watch)) DEBUG; "
        }
        return "{ \(keepingLastWord("{ \(setUp)unset BASH_ENV; }")); } 2>/dev/null\n"
    }

    /// The loop's own variable is `$_`. Its second word is what that was before, and stays.
    private func keepingLastWord(_ command: String) -> String {
        "for _ in \"flowrun first\" \"${_-}\"; do [[ $_ != \"flowrun first\" ]]||\(command); done"
    }

    /// Output of `set -x` goes to standard error, and so nowhere.
    private func trap(_ commands: String) -> String { "'{ \(commands); } 2>/dev/null'" }

    /// Returns the command that appends a note. Its last word keeps `$_` and is not written: the arguments of a
    /// command may be secret.
    private func note(_ kind: String) -> String {
        let format = String(repeating: #"%s\0"#, count: BashNote.fields) + "%.0s"
        return """
            builtin printf "\(format)" \(kind) "$?" "$LINENO" "$BASHPID" "${PIPESTATUS[*]-}" "${BASH_SOURCE-}" \
            "${BASH_COMMAND:0:\(BashNote.commandLimit)}" "${_-}" >>'"$BASH_ENV"'
            """
    }
}
