/// The keys of the file format of version 1, in the order in which messages and the schema list them.
///
/// `definition` is the table of keys. Everything else is derived from it or compared with it by a test: the keys that
/// the decoder reads in each place, the keys that a group hands down, the JSON schema, the manual page.
package enum WorkflowKey: UInt8, CaseIterable, Sendable {
    case version, name, description, aliases, section, `default`, manual, `internal`, needs, `if`, require, confirm
    case uses, with, params, vars, secrets
    case run, env, envPolicy, dotenv, defaults, shell, workingDirectory, stdin, streams, detach, interactive, log
    case outputs, outputLimit, timeout, grace, killSignal, retry, continueOnError, pools, pool, mutex, platforms
    case matrix, forEach, `as`, label, maxItems, maxParallel, failFast, order, isolate, undoes, templates, steps
    case onFailure, finally, jobserver, sources, generates, services

    /// The definition of the key. O(1).
    package var definition: KeyDefinition {
        switch self {
        case .version:
            .init("version", in: .top, .version, "The version of the format.")
        case .name:
            .init(
                "name", in: [.top, .member], .text, "A label for people; the id is the key in the map.",
                atTop: "The name of the workflow in the log.")
        case .description:
            .init("description", in: [.top, .member, .template], .text, "Its purpose; shown by `flowrun list`.")
        case .aliases:
            .init(
                "aliases", in: .member, .aliases,
                "Other names for the id on the command line. `needs`, `default` and expressions use the id.")
        case .section:
            .init(
                "section", in: .member, .text,
                "The heading under which `flowrun list` shows this, with the members that have none of their own.")
        case .default:
            .init(
                "default", in: .top, .stepIDs,
                """
                The steps and groups that run if the command line names none: ids, as on the command line. `list` \
                or an empty list: none, and the steps are listed. Without it everything runs that is not `manual`.
                """)
        case .manual:
            .init(
                "manual", in: .member, .flag, standard: "false",
                """
                If true, this runs only when it is named on the command line or by `default`, or something that runs \
                needs it.
                """)
        case .internal:
            .init(
                "internal", in: .member, .flag, standard: "false",
                """
                If true, this and its members are not listed and cannot be named on the command line. They run like \
                all others.
                """)
        case .needs:
            .init(
                "needs", in: .member, .needs, ofWhole: true, inDefinition: true,
                """
                The steps and groups that have to end before this starts: a list of ids that have to succeed, or a \
                map from id to the end it wants. Names a sibling, or a sibling of an enclosing group.
                """)
        case .if:
            .init(
                "if", in: .member, .condition, ofWhole: true, inDefinition: true,
                """
                A condition, as an expression without braces. If it is false this is skipped; what needs it still \
                runs. With success(), failure(), always() or cancelled() it also decides what a failed need means.
                """)
        case .require:
            .init(
                "require", in: [.top, .member, .template], .requirements,
                """
                Conditions that have to hold when this starts. One that is false, or a command that fails, fails it \
                with the message.
                """,
                atTop: """
                    Conditions that have to hold before anything starts. One that is false, or a command that fails, \
                    fails the run with the message.
                    """)
        case .confirm:
            .init(
                "confirm", in: .member, .question, computed: true,
                """
                A question that a person has to answer with yes before this starts; without a terminal it fails, \
                unless --yes is given.
                """)
        case .uses:
            .init(
                "uses", in: .use, .bodyName,
                """
                Where the body of the group is written: the path of another workflow file, from this file's folder, \
                with a slash or `.yml` or `.yaml` at its end; else the name of one of the `templates` of this file.
                """)
        case .with:
            .init(
                "with", in: .use, .arguments,
                """
                Values for the parameters of the body, by name. Texts may hold expressions; a list parameter takes a \
                list, or one expression.
                """)
        case .params:
            .init(
                "params", in: [.top, .template, .step], .params, inDefinition: true,
                """
                The parameters that `with` gives values to. Each is an environment variable of the steps, and \
                `params.NAME` in expressions.
                """,
                atTop: """
                    The parameters that the caller may set with --param. Each is an environment variable of all \
                    steps, and `params.NAME` in expressions.
                    """,
                ofStep: """
                    The step's own parameters, which the caller gives after its name: `flowrun greet World`, \
                    `flowrun greet name=World`. Each is an environment variable of the step, and `params.NAME` in it.
                    """)
        case .vars:
            .init(
                "vars", in: [.top, .group, .template], .vars,
                """
                Values with a name, for everything in the group; each copy of a fan-out has its own. They hide those \
                of the same names in enclosing groups.
                """,
                atTop: """
                    Values with a name, for all steps: texts, lists, or what a command prints, which runs once, when \
                    the first step reads it. Read as `vars.NAME`, and as an environment variable of the steps that \
                    read it.
                    """)
        case .secrets:
            .init(
                "secrets", in: [.top, .step], .secretUses, inDefinition: true,
                "The workflow's secrets that the step sees, as environment variables of the same names.",
                topType: .secrets,
                atTop: """
                    Values that no output ever shows, and where each comes from. A step sees those that its own \
                    `secrets` lists.
                    """)
        case .run:
            .init(
                "run", in: .step, .run, inDefinition: true,
                """
                A text is a script, handed to the shell byte for byte. A list is a program and its arguments, run \
                without a shell.
                """)
        case .env:
            .init(
                "env", in: [.top, .member, .template], .environment, inDefinition: true,
                """
                Environment variables of the step, or of all members of the group. null takes a variable away. The \
                innermost wins.
                """,
                atTop: "Environment variables of all steps. null takes a variable away. The innermost wins.")
        case .envPolicy:
            .init(
                "env-policy", in: [.top, .defaults, .step], .envPolicy, standard: #""inherit""#, inDefinition: true,
                "The part of flowrun's own environment that the step gets.",
                atTop: "The part of flowrun's own environment that steps get. Default inherit.")
        case .dotenv:
            .init(
                "dotenv", in: [.top, .step, .group, .template], .dotenv, inDefinition: true,
                """
                A file of NAME=value lines, or several, relative to the workflow file's folder. A later file wins, \
                `env` wins over both.
                """)
        case .defaults:
            .init("defaults", in: .top, .defaults, "Settings of every step that does not set its own.")
        case .shell:
            .init(
                "shell", in: [.defaults, .step, .group, .template], .shell, standard: #""bash""#, handedDown: true,
                inDefinition: true, computed: true,
                """
                The program that reads `run` scripts: `bash` (the default; -eo pipefail, no profiles), `sh` (-e), \
                another program (called with -c SCRIPT), or a list of arguments to which the script is appended. \
                Groups hand it on to their members.
                """)
        case .workingDirectory:
            .init(
                "working-directory", in: [.defaults, .step, .group, .template], .folder, standard: #"".""#,
                inDefinition: true,
                """
                Where steps run; relative to the workflow file's folder, which is the default. May hold expressions.
                """)
        case .stdin:
            .init(
                "stdin", in: .step, .scalar, inDefinition: true,
                "The standard input of the step, such as ${{ previous.stdout }}. Default: nothing.")
        case .streams:
            .init(
                "streams", in: [.defaults, .step], .streams, standard: #""together""#, inDefinition: true,
                """
                The way of the step's standard output and standard error to the log: `together` or `separate`. Default \
                together.
                """)
        case .detach:
            .init(
                "detach", in: .step, .flag, standard: "false", inDefinition: true,
                """
                If true, processes that outlive the first one are left alone. They may outlive the run, and nothing \
                of them reaches the log. Default false.
                """)
        case .interactive:
            .init(
                "interactive", in: .step, .flag, standard: "false", inDefinition: true,
                """
                If true, the step has the terminal for itself, one such step at a time. Nothing that it writes \
                reaches the log. Default false.
                """)
        case .log:
            .init(
                "log", in: [.top, .step], .log,
                "The view of the step's output. The record of the run does not change.",
                atTop: "The view of the output of steps. The record of the run does not change.")
        case .outputs:
            .init(
                "outputs", in: [.top, .step, .group, .template], .groupOutputs, inDefinition: true,
                "Values that the group hands on, by name, as expressions over the outputs of its members.",
                atTop: "Values of the run, as expressions over the outputs of its steps.",
                stepType: .stepOutputs,
                ofStep: """
                    Values that the step hands on, by name, with their types. It writes them as NAME=value to the \
                    file $FLOWRUN_OUTPUT.
                    """)
        case .outputLimit:
            .init(
                "output-limit", in: .top, .size, standard: #""128MiB""#,
                """
                How much of the steps' output the journal keeps in files for `replay`, such as `64MiB`. Default: \
                128MiB. The last 64 KiB of each step are always kept.
                """)
        case .timeout:
            .init(
                "timeout", in: [.top, .defaults, .member, .template], .duration, computed: true,
                """
                The longest the group may take, wall clock from its start. Then what runs is stopped and the group's \
                outcome is `timeout`.
                """,
                atTop: """
                    The longest the run may take, wall clock. Then what runs is stopped and flowrun exits with \
                    status 124.
                    """,
                ofStep: """
                    The longest the step may take, from the start of its process. Then it is stopped and its outcome \
                    is `timeout`.
                    """)
        case .grace:
            .init(
                "grace", in: [.defaults, .member], .grace, standard: #""10s""#, handedDown: true, computed: true,
                """
                Time between the first signal and KILL when a step is stopped. Default 10s; 0s kills at once.
                """)
        case .killSignal:
            .init(
                "kill-signal", in: [.defaults, .member], .signal, standard: #""TERM""#, handedDown: true,
                "The first signal when a step is stopped. Default TERM.")
        case .retry:
            .init(
                "retry", in: [.defaults, .member], .retry, computed: true,
                "When and how often the whole group is run again, all members and with fresh outputs.",
                ofStep: "When and how often the step is tried again.")
        case .continueOnError:
            .init(
                "continue-on-error", in: .member, .flag, standard: "false", computed: true,
                """
                If true, a failure or timeout is only listed: it fails neither the enclosing group nor the run, and \
                satisfies the list form of `needs`. Default false.
                """)
        case .pools:
            .init(
                "pools", in: .top, .pools,
                "Named resources with a limited number of units. Steps take units with `pool`.")
        case .pool:
            .init(
                "pool", in: .step, .poolRequests,
                """
                The units that the step takes from `pools` while it runs: names with a number of units each, or a \
                name or a list of names for one unit of each.
                """)
        case .mutex:
            .init(
                "mutex", in: .member, .mutexes,
                """
                Names that at most one step or group holds at a time, in all runs of the file. The group holds them \
                from its start to its end.
                """,
                ofStep: "Names that at most one step or group holds at a time, in all runs of the file.")
        case .platforms:
            .init(
                "platforms", in: .step, .platforms, ofWhole: true, computed: true,
                """
                Where the step runs: on one of the systems and one of the processors that are named. Elsewhere it is \
                skipped.
                """)
        case .matrix:
            .init(
                "matrix", in: .member, .matrix, ofWhole: true, inDefinition: true,
                """
                One copy for each combination of the axes. Every axis is an environment variable of the copy.
                """)
        case .forEach:
            .init(
                "for-each", in: .member, .items, ofWhole: true, inDefinition: true,
                """
                One copy for each value of the list, or of the list that an expression gives. The value is an \
                environment variable of the copy, named by `as`.
                """)
        case .as:
            .init(
                "as", in: .member, .variable, standard: #""item""#, ofWhole: true, inDefinition: true,
                "The name of the `for-each` variable. Default item.")
        case .label:
            .init(
                "label", in: .member, .label, ofWhole: true, inDefinition: true,
                """
                Names the copies of a fan-out in place of their values. Expressions in it read only the variables of \
                the copy.
                """)
        case .maxItems:
            .init(
                "max-items", in: .member, .wholeNumber, range: 1...100_000, standard: "1000", ofWhole: true,
                "The largest number of copies that a fan-out may make. Default 1000.")
        case .maxParallel:
            .init(
                "max-parallel", in: [.top, .member, .template], .wholeNumber, ofWhole: true, computed: true,
                """
                How many steps of the group may run at once; with `matrix` or `for-each`, how many copies may be in \
                progress.
                """,
                atTop: "The largest number of steps that run at once, within the limit of -j.",
                ofStep: "The largest number of copies in progress at once. Only with `matrix` or `for-each`.")
        case .failFast:
            .init(
                "fail-fast", in: [.top, .member, .template], .failFast, standard: "false", ofWhole: true,
                "The effect of a failed member on the others. Default: that of the nearest enclosing group, or false.",
                atTop: "The effect of a failure on the rest of the run. Default false.",
                ofStep: "The effect of a failed copy on the others. Only with `matrix` or `for-each`.")
        case .order:
            .init(
                "order", in: [.top, .group, .template], .order, standard: #""parallel""#,
                """
                `parallel` (the default): members start when their needs allow. `sequence`: each also waits for the \
                success of all before it in the file.
                """)
        case .isolate:
            .init(
                "isolate", in: [.group, .use], .isolation, inDefinition: true,
                """
                `copy`: the members run in a copy of the tree as it is when the first of them starts, each copy of a \
                fan-out in its own. It has what git tracks or does not ignore, without git everything. It is removed \
                when the group has succeeded, and otherwise kept for a resume.
                """)
        case .undoes:
            .init(
                "undoes", in: .member, .undoes,
                """
                Only below on-failure and finally: ids of the members of the hook's body that this step or group \
                undoes, so that a resume runs them again. Default: all of the body; an empty list: nothing.
                """)
        case .templates:
            .init(
                "templates", in: .top, .templates,
                """
                Bodies of groups, by name: a group of this file has one with `uses: NAME`, and gives its parameters \
                values with `with`.
                """)
        case .steps:
            .init(
                "steps", in: [.top, .group, .template], .steps, "The members by id: steps and further groups.",
                atTop: """
                    Steps and groups by id. Their order has no meaning, unless `order: sequence` gives it one.
                    """)
        case .onFailure:
            .init(
                "on-failure", in: [.top, .group, .template], .hook,
                """
                Steps by id that run when the members have ended and one of them has failed or timed out, before \
                `finally`.
                """,
                atTop: """
                    Steps by id that run when the others have ended and one of them has failed or timed out, before \
                    `finally`.
                    """)
        case .finally:
            .init(
                "finally", in: [.top, .group, .template], .hook,
                "Steps by id that run when the members have ended, whatever happened.",
                atTop: """
                    Steps by id that run when everything else has ended, whatever happened, also after an interrupt \
                    or a timeout.
                    """)
        case .jobserver:
            .init(
                "jobserver", in: .step, .jobserver,
                """
                `true`: the makes in the step take part in the jobs of the run. `fifo`: so do programs that know a \
                jobserver only by the path of a FIFO, such as ninja.
                """)
        case .sources: .notSupportedYet("sources")
        case .generates: .notSupportedYet("generates")
        case .services: .notSupportedYet("services")
        }
    }
}
