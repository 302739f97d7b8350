// Codes about expressions and the values they read: FR04xx.
extension DiagnosticCode {
    var expressionDetails: DiagnosticExplanation {
        switch self {
        case .expressionSyntax:
            DiagnosticExplanation(
                "not an expression",
                """
                The text between the braces, or behind `if`, does not follow the rules of expressions: names, whole numbers,
                texts in single quotes, the operators == != < <= > >= && || ! ??, brackets and the functions. There is no
                arithmetic, and no operator in words.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: [echo, \"${{ run.name = 'x' }}\"]",
                remedy: "write what the finding suggests.")
        case .expressionNotAllowed:
            DiagnosticExplanation(
                "an expression where none is evaluated",
                """
                Ids, names, durations, counts and the values of a matrix are what the file says, so that a workflow can be
                checked before it runs. Expressions are accepted in values of `env`, `vars` and `with`, in the words of a
                `run` list, in `working-directory`, `stdin`, `if`, `require` and `label`, in `for-each` as a whole, and in
                `outputs` of a group or of the workflow.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    timeout: ${{ params.limit }}",
                remedy: "write the value. Where expressions are evaluated, `$${{` is the plain text `${{`.")
        case .unknownName:
            DiagnosticExplanation(
                "an unknown name in an expression",
                """
                Expressions know params.NAME, vars.NAME, steps.ID, previous, run, env.NAME, the variables of the fan-outs
                around and the functions. A name that is none of these, or a parameter, output or field that nobody
                declares, would be an error in the middle of a run.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: [echo, \"${{ length('a') }}\"]",
                remedy: "write the name as it is declared, or declare it.")
        case .unorderedRead:
            DiagnosticExplanation(
                "a result that is not there yet",
                """
                A step may read the outputs and the outcome of what it needs, and of what that needs, because only these
                have certainly ended when it starts. The step that is read here is not one of them.
                """,
                example: """
                    version: 1
                    steps:
                      a: { run: echo }
                      b:
                        run: [echo, "${{ steps.a.outcome }}"]
                    """,
                remedy: "add the step to `needs`.")
        case .possiblyAbsent:
            DiagnosticExplanation(
                "a value that may not be there",
                """
                A step that failed or was skipped has no outputs, and a variable of the environment may not be set. The
                expression has to say which value takes its place.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: [echo, \"${{ env.NAME }}\"]",
                remedy: "give a default with ??, as in env.NAME ?? 'nobody', or need the step's success.")
        case .valueType:
            DiagnosticExplanation(
                "a value of the wrong type",
                """
                Values have types and never change them by themselves: the text '1' is not the number 1. A comparison has
                two values of one type, a condition is true or false, and `for-each` takes a list.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: [echo, \"${{ 1 == 'one' }}\"]",
                remedy: "compare like with like; fromJSON makes a value of a text, format a text of a value.")
        default:
            DiagnosticExplanation(
                "not known at this place",
                """
                `previous` is the member before in a sequence, `run.outcome` is known only when the steps are over, in
                `finally` and `on-failure` of the workflow, and success(), failure(), always() and cancelled() are questions
                of a condition. Elsewhere they have no answer.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: [echo, \"${{ run.outcome }}\"]",
                remedy: "read the result of a step by its name, steps.ID.")
        }
    }
}
