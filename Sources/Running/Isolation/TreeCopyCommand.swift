/// The command that copies the tree for a group with `isolate: copy`. It runs in the folder to copy, and prints the
/// folder in the copy that stands for it.
struct TreeCopyCommand {
    let words: [String]

    /// `excluded` are folders that are left out.
    init(making copy: TreeCopy, of run: String, without excluded: [String]) {
        words = ["bash", "--noprofile", "--norc", "-s", "--", copy.path, run] + excluded
    }

    /// The bytes of its standard input.
    static let input = Array(script.utf8)

    /// The tree is the git work tree around the folder, unless that is the home folder or tracks nothing in here; else
    /// the folder itself. The copy of a work tree is a repository of its own: with the index, the refs and the
    /// configuration as they are, and with the objects of the original, which git never changes.
    private static let script = #"""
        set -euo pipefail
        target=$1 run=$2 here=$(pwd -P)
        shift 2
        excluded=()
        for path; do excluded+=("$(realpath -m -- "$path")"); done
        # All but the configuration, which may allow what git else refuses.
        unset $(git rev-parse --local-env-vars 2>/dev/null | grep -v '^GIT_CONFIG')
        new=$target.new list=$target.new/list errors=$target.new/errors
        remove() { [[ ! -e $1 ]] || { chmod -R u+rwX -- "$1"; rm -rf -- "$1"; }; }
        trap 'remove "$new"' EXIT

        # True if all errors are about files that others have removed meanwhile.
        are_vanished() { [[ -s $errors ]] && ! grep -qv 'No such file or directory$' "$errors"; }

        show_errors() { cat -- "$errors" >&2 && return 1; }

        # Sets `outside` to the excluded folders below a folder, relative to it.
        find_excluded() {
            local path
            outside=()
            for path in "${excluded[@]}"; do
                [[ $path != "${1%/}"/* ]] || outside+=("${path#"${1%/}"/}")
            done
        }

        is_outside() {
            local path
            for path in "${outside[@]}"; do [[ $1/ != "$path"/* ]] || return 0; done
            return 1
        }

        # True if a folder of a path in the current folder is a link: git tracked it before it became one.
        has_link() {
            local rest=$1 above=
            while [[ $rest == */* ]]; do
                above+=${rest%%/*} rest=${rest#*/}
                [[ ! -L $above ]] || return 0
                above+=/
            done
            return 1
        }

        copy_repository() {
            local source=$1 copy=$2 path last= folder= is_linked=
            local -a found plain=() inner=() outside
            find_excluded "$source"
            cd -- "$source"
            git ls-files -z --cached --others --exclude-standard > "$list"
            mapfile -d '' -t found < "$list"
            for path in "${found[@]}"; do
                [[ $path != "$last" ]] || continue
                last=$path
                ! is_outside "$path" || continue
                if [[ $path == */* && ${path%/*} != "$folder" ]]; then
                    folder=${path%/*} is_linked=
                    ! has_link "$path" || is_linked=1
                fi
                [[ $path != */* || ! $is_linked ]] || continue
                if [[ -L $path || -f $path ]]; then
                    plain+=("$path")
                elif [[ -d $path ]]; then
                    inner+=("${path%/}")
                fi
            done
            mkdir -p -- "$copy"
            copy_paths "$copy"
            copy_git "$copy/.git"
            for path in "${inner[@]}"; do
                mkdir -p -- "$copy/$path"
                [[ ! -e $source/$path/.git ]] || copy_repository "$source/$path" "$copy/$path"
            done
        }

        # Copies the paths in `plain`, but those that others remove meanwhile.
        copy_paths() {
            ((${#plain[@]})) || return 0
            if printf '%s\0' "${plain[@]}" |
                LC_ALL=C xargs -0 cp -a --parents --remove-destination --reflink=auto -t "$1" -- 2> "$errors" ||
                are_vanished; then return; fi
            copy_into_writable "$1" 2> /dev/null || show_errors
        }

        # Does the same for folders without write permission, which cp(1) sets before all is in them.
        copy_into_writable() {
            local path above=
            chmod -R u+rwX -- "$1"
            printf '%s\0' "${plain[@]}" | tar -c --null --verbatim-files-from --no-recursion -T - |
                tar -x -p -C "$1" || return
            for path in "${plain[@]}"; do
                [[ $path == */* && ${path%/*} != "$above" ]] || continue
                above=${path%/*}
                chmod --reference="$above" -- "$1/$above"
            done
        }

        copy_git() {
            local own common
            own=$(git rev-parse --absolute-git-dir)
            common=$(realpath -- "$(git rev-parse --git-common-dir)")
            mkdir -- "$1"
            if [[ $own == "$common" ]]; then
                copy_files "$common" "$1" ! -name objects ! -name worktrees ! -name modules ! -name lfs ! -name '*.lock'
            else
                # A work tree beside others has a HEAD, an index and a state of its own.
                copy_files "$common" "$1" '(' -name config -o -name packed-refs -o -name refs -o -name reftable \
                    -o -name info -o -name hooks -o -name shallow ')'
                rm -f -- "$1/info/sparse-checkout"
                copy_files "$own" "$1" ! -name objects ! -name modules ! -name commondir ! -name gitdir ! -name '*.lock'
            fi
            mkdir -p -- "$1/objects/info"
            printf '%s\n' "$common/objects" > "$1/objects/info/alternates"
            git config --file "$1/config" core.bare false
            git config --file "$1/config" --unset-all core.worktree || :
            [[ ! -e $1/config.worktree ]] || git config --file "$1/config.worktree" --unset-all core.worktree || :
            # The copies of the files have other inodes, and no daemon watches them.
            git config --file "$1/config" core.checkStat minimal
            git config --file "$1/config" core.trustctime false
            git config --file "$1/config" core.fsmonitor false
            [[ ! -d $common/lfs ]] || git config --file "$1/config" lfs.storage "$common/lfs"
        }

        # Copies the entries of a folder that match an expression of find(1). A git that works in there meanwhile makes
        # and removes files; its locks are not for the copy.
        copy_files() {
            local source=$1 copy=$2 tries=10
            shift 2
            until LC_ALL=C find "$source" -mindepth 1 -maxdepth 1 "$@" ! -type s \
                -exec cp -a --remove-destination --reflink=auto -t "$copy" -- {} + 2> "$errors"; do
                are_vanished && ((tries -= 1)) || show_errors
            done
            find "$copy" -name '*.lock' -type f -delete
        }

        copy_folder() {
            local path
            local -a outside plain prune=()
            find_excluded "$1"
            cd -- "$1"
            for path in "${outside[@]}"; do [[ ! -d $path ]] || prune+=(-samefile "$path" -prune -o); done
            LC_ALL=C find . -mindepth 1 "${prune[@]}" \
                \( ! -type d ! -type s -o -type d -empty \) -print0 > "$list" 2> "$errors" ||
                are_vanished || show_errors
            mapfile -d '' -t plain < "$list"
            copy_paths "$2"
        }

        # What is left of a copy that is being removed is none.
        if [[ -e $target ]]; then
            mv -T -- "$target" "$target.$$.old"
            remove "$target.$$.old"
        fi
        remove "$new"
        mkdir -p -- "$new/tree"

        top=$here
        while [[ ! -e ${top%/}/.git && $top != / ]]; do top=$(dirname -- "$top"); done
        if ! command -v git >/dev/null; then
            if [[ -e ${top%/}/.git ]]; then
                echo "$top is a git work tree, and git is not installed: it lists the files to copy" >&2
                exit 1
            fi
            top=
        elif ! top=$(LC_ALL=C git rev-parse --show-toplevel 2> "$errors"); then
            case $(< "$errors") in
            *'not a git repository'* | *'must be run in a work tree'*) top= ;;
            *) cat -- "$errors" >&2 && exit 1 ;;
            esac
        elif [[ ! $top -ef $here ]] && { [[ $top -ef ${HOME:-/} ]] ||
            ! git ls-files --error-unmatch -- . >/dev/null 2>&1; }; then
            top=
        fi
        folder=
        [[ ! $top ]] || folder=${here#"${top%/}"}

        if [[ $top ]]; then copy_repository "$top" "$new/tree"; else copy_folder "$here" "$new/tree"; fi
        mkdir -p -- "$new/tree$folder"
        printf '%s' "$folder" > "$new/folder"
        printf '%s\n' "$run" "$run" "$target" > "$new/record"
        rm -f -- "$list" "$errors"
        mv -T -- "$new" "$target"
        printf '%s' "$target/tree$folder"
        """#
}
