/** Supported shells. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Output of `completion --suggest` that makes the shell complete file names. */
export const SUGGEST_FILES = ':files';

/*
 * Each script runs kcri to get the completions: one word per line, followed by a tab and its description. Errors are
 * discarded, because they would overwrite the command line.
 */

const BASH = `# bash completion for kcri: source <(kcri completion bash)
_kcri() {
    local cur="\${COMP_WORDS[COMP_CWORD]}"
    mapfile -t COMPREPLY < <(kcri completion --suggest --line "\${COMP_LINE:0:COMP_POINT}" --breaks "$COMP_WORDBREAKS" 2>/dev/null | cut -f1)
    if [[ "\${COMPREPLY[0]-}" == ${SUGGEST_FILES} ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames
    elif [[ "\${COMPREPLY[0]-}" == *[=/] ]]; then
        compopt -o nospace
    fi
}
complete -F _kcri kcri
`;

const ZSH = `#compdef kcri
# zsh completion for kcri: source <(kcri completion zsh)
_kcri() {
    local -a lines words_ shown
    lines=("\${(@f)$(kcri completion --suggest -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ "$lines[1]" == ${SUGGEST_FILES} ]]; then
        _files
        return
    fi
    [[ -z "$lines[1]" ]] && return 1
    words_=("\${(@)lines%%$'\\t'*}")
    shown=("\${(@)lines/$'\\t'/  -- }")
    if [[ "$lines[1]" == *[=/] ]]; then
        compadd -S '' -l -d shown -a words_
    else
        compadd -l -d shown -a words_
    fi
}
if [[ "$funcstack[1]" == _kcri ]]; then
    _kcri "$@"
else
    compdef _kcri kcri
fi
`;

const FISH = `# fish completion for kcri: kcri completion fish | source
function __kcri_complete
    set -l lines (kcri completion --suggest -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test "$lines[1]" = ${SUGGEST_FILES}
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $lines
    end
end
complete -c kcri -f -a '(__kcri_complete)'
`;

/** Completion script of each shell. */
export const COMPLETION_SCRIPTS = {bash: BASH, zsh: ZSH, fish: FISH} as const satisfies Record<Shell, string>;
