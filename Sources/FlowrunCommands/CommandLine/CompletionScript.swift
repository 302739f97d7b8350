/// The completion scripts: each asks `flowrun` itself, by `flowrun __complete SHELL WORD...`, for completions of the
/// last word. The answer is a line with the kind, then one candidate per line (`CompletionAnswer`).
enum CompletionScript: String, CaseIterable {
    case bash, zsh, fish

    /// The hidden command word.
    static let word = "__complete"

    var text: String {
        switch self {
        case .bash:
            #"""
            # Completions of flowrun for bash. flowrun itself answers.
            _flowrun() {
                local kind answer paths
                mapfile -t answer < <("$1" __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
                kind=${answer[0]-}
                COMPREPLY=("${answer[@]:1}")
                case $kind in
                    value | files | "") mapfile -t paths < <(compgen -f -- "$2" | grep -vE '(^|/)\.flowrun$') ;;
                    folders) mapfile -t paths < <(compgen -d -- "$2" | grep -vE '(^|/)\.flowrun$') ;;
                    prefixes) compopt -o nospace 2>/dev/null ;;
                esac
                # flowrun's own state is not offered. A step that is called like a folder must not become its path.
                if ((${#COMPREPLY[@]} == 0)); then compopt -o filenames 2>/dev/null; fi
                COMPREPLY+=("${paths[@]}")
            }
            complete -F _flowrun flowrun

            """#
        case .zsh:
            #"""
            #compdef flowrun
            # Completions of flowrun for zsh. flowrun itself answers.
            _flowrun() {
                local -a answer before
                local kind
                before=("${(@Q)words[1,CURRENT-1]}")
                answer=("${(@f)$("${before[1]}" __complete zsh "${(@)before[2,-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
                kind=$answer[1]
                shift answer
                case $kind in
                    words) _describe flowrun answer ;;
                    prefixes) _describe flowrun answer -S '' ;;
                    files | value)
                        (( $#answer )) && _describe flowrun answer
                        if [[ $kind == value ]]; then compset -P '*='; else compset -P '--*='; fi
                        _files -F .flowrun
                        ;;
                    folders)
                        compset -P '--*='
                        _files -/ -F .flowrun
                        ;;
                esac
            }
            if [[ $funcstack[1] == _flowrun ]]; then _flowrun "$@"; else compdef _flowrun flowrun; fi

            """#
        case .fish:
            #"""
            # Completions of flowrun for fish. flowrun itself answers.
            function __flowrun_complete
                set -l words (commandline -opc)
                set -l current (commandline -ct)
                set -l answer (command $words[1] __complete fish $words[2..-1] "$current" 2>/dev/null)
                test (count $answer) -gt 0; or return
                printf '%s\n' $answer[2..-1]
                set -l joined '^--[^=]*='
                test $answer[1] = value; and set joined '^.*='
                set -l option (string match -r -- $joined "$current")
                set -l path (string replace -r -- $joined '' "$current")
                # flowrun's own state is not offered.
                set -l state '(^|/)\.flowrun/?(\t|$)'
                switch $answer[1]
                    case files value
                        printf '%s\n' "$option"(__fish_complete_path "$path" | string match -rv -- $state)
                    case folders
                        printf '%s\n' "$option"(__fish_complete_directories "$path" | string match -rv -- $state)
                end
            end
            complete -c flowrun -f -a '(__flowrun_complete)'

            """#
        }
    }
}
