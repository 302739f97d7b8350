/// The command that copies the tree for a group with `isolate: copy`. It runs in the folder to copy.
enum TreeCopy {
    /// Returns the words of the command. It leaves the copy at `path`, made under another name first, and prints the
    /// folder in it that stands for the one it runs in. `state` is a folder that is left out. With `isKept` it only
    /// prints that folder of a copy that is there.
    static func words(to path: String, without state: String, isKept: Bool) -> [String] {
        ["bash", "--noprofile", "--norc", "-c", script, "flowrun", path, state, isKept ? "kept" : "new"]
    }

    /// The tree is the git work tree around the folder, unless that is the home folder or tracks nothing in here; else
    /// the folder itself. The copy of a work tree is a repository of its own: with the index, the refs and the
    /// configuration as they are, and with the objects of the original, which git never changes.
    private static let script = #"""
        set -euo pipefail
        target=$1 state=$(realpath -m -- "$2") here=$(pwd -P)
        unset $(git rev-parse --local-env-vars 2>/dev/null)

        copy_repository() {
            local source=$1 copy=$2 path last=
            local -a found plain=() inner=()
            mapfile -d '' -t found < <(git -C "$source" ls-files -z --cached --others --exclude-standard)
            wait "$!"
            for path in "${found[@]}"; do
                [[ $path != "$last" && $source/$path/ != "$state"/* ]] || continue
                last=$path
                if [[ -L $source/$path || -f $source/$path ]]; then
                    plain+=("$path")
                elif [[ -d $source/$path ]]; then
                    inner+=("${path%/}")
                fi
            done
            mkdir -p -- "$copy"
            if ((${#plain[@]})); then
                printf '%s\0' "${plain[@]}" |
                    (cd -- "$source" && xargs -0 cp -a --parents --reflink=auto -t "$copy" --)
            fi
            copy_git "$source" "$copy/.git"
            for path in "${inner[@]}"; do
                mkdir -p -- "$copy/$path"
                [[ ! -e $source/$path/.git ]] || copy_repository "$source/$path" "$copy/$path"
            done
        }

        copy_git() {
            local own common
            own=$(git -C "$1" rev-parse --absolute-git-dir)
            common=$(cd -- "$1" && realpath -- "$(git rev-parse --git-common-dir)")
            mkdir -- "$2"
            copy_files "$common" "$2" objects worktrees modules lfs '*.lock'
            # A work tree beside others, or a submodule.
            [[ $own == "$common" ]] || copy_files "$own" "$2" objects modules commondir gitdir '*.lock'
            mkdir -p -- "$2/objects/info"
            printf '%s\n' "$common/objects" > "$2/objects/info/alternates"
            git config --file "$2/config" --unset-all core.worktree || :
            # The copies of the files have other inodes, and no daemon watches them.
            git config --file "$2/config" core.checkStat minimal
            git config --file "$2/config" core.trustctime false
            git config --file "$2/config" core.fsmonitor false
            [[ ! -d $common/lfs ]] || git config --file "$2/config" lfs.storage "$common/lfs"
        }

        copy_files() {
            local source=$1 copy=$2 name
            local -a but=()
            shift 2
            for name; do but+=(! -name "$name"); done
            find "$source" -mindepth 1 -maxdepth 1 "${but[@]}" ! -type s \
                -exec cp -a --reflink=auto -t "$copy" -- {} +
        }

        top=$here
        while [[ ! -e $top/.git && $top != / ]]; do top=$(dirname -- "$top"); done
        if [[ ! -e $top/.git ]]; then
            top=
        elif ! command -v git >/dev/null; then
            echo "$top is a git work tree, and git is not installed: it lists the files to copy" >&2
            exit 1
        else
            git rev-parse --git-dir >/dev/null
            if [[ $top != "$here" ]] && { [[ $top -ef ${HOME:-/} ]] ||
                ! git ls-files --error-unmatch -- . >/dev/null 2>&1; }; then top=; fi
        fi

        if [[ $3 == new ]]; then
            for old in "$target" "$target.new"; do
                [[ ! -e $old ]] || { chmod -R u+rwX -- "$old"; rm -rf -- "$old"; }
            done
            mkdir -p -- "$target.new"
            if [[ $top ]]; then
                copy_repository "$top" "$target.new"
                mkdir -p -- "$target.new${here#"$top"}"
            else
                find . -mindepth 1 -maxdepth 1 ! -samefile "$state" ! -type s \
                    -exec cp -a --reflink=auto -t "$target.new" -- {} +
            fi
            mv -- "$target.new" "$target"
        fi
        printf '%s' "$target"
        [[ ! $top ]] || printf '%s' "${here#"$top"}"
        """#
}
