declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly completion: (shell: Shell, name: string | undefined) => Promise<string>;
  }
}

/** Supported shells. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Output of `completion --suggest` that makes the shell complete file names. */
export const SUGGEST_FILES = ':files';

/*
 * Each script runs kcri to get the completions: one word per line, followed by a tab and its description. Errors are
 * discarded, because they would overwrite the command line.
 */

/** Creates the completion script of a program name, such as an alias of kcri. */
type CompletionScript = (name: string) => string;

/** Returns the arguments of `completion` that print the script. */
const argsFor = (shell: Shell, name: string): string => (name === 'kcri' ? shell : `${shell} --name=${name}`);

/** Returns the name of the script's function; a shell loads a script by it. */
const functionName = (name: string): string => `_${name.replaceAll(/\W/g, '_')}`;

const bashScript: CompletionScript = (
  name,
) => `# bash completion for ${name}: source <(kcri completion ${argsFor('bash', name)})
${functionName(name)}() {
    local cur="\${COMP_WORDS[COMP_CWORD]}"
    mapfile -t COMPREPLY < <(kcri completion --suggest --line "\${COMP_LINE:0:COMP_POINT}" --breaks "$COMP_WORDBREAKS" 2>/dev/null | cut -f1)
    if [[ "\${COMPREPLY[0]-}" == ${SUGGEST_FILES} ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames
    elif [[ "\${COMPREPLY[0]-}" == *[=/:] ]]; then
        compopt -o nospace
    fi
}
complete -F ${functionName(name)} ${name}
`;

const zshScript: CompletionScript = (name) => `#compdef ${name}
# zsh completion for ${name}: source <(kcri completion ${argsFor('zsh', name)})
${functionName(name)}() {
    local -a lines words_ shown
    lines=("\${(@f)$(kcri completion --suggest -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ "$lines[1]" == ${SUGGEST_FILES} ]]; then
        _files
        return
    fi
    [[ -z "$lines[1]" ]] && return 1
    words_=("\${(@)lines%%$'\\t'*}")
    shown=("\${(@)lines/$'\\t'/  -- }")
    if [[ "$lines[1]" == *[=/:] ]]; then
        compadd -S '' -l -d shown -a words_
    else
        compadd -l -d shown -a words_
    fi
}
if [[ "$funcstack[1]" == ${functionName(name)} ]]; then
    ${functionName(name)} "$@"
else
    compdef ${functionName(name)} ${name}
fi
`;

const fishScript: CompletionScript = (
  name,
) => `# fish completion for ${name}: kcri completion ${argsFor('fish', name)} | source
function __kcri_complete
    set -l lines (kcri completion --suggest -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test "$lines[1]" = ${SUGGEST_FILES}
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $lines
    end
end
complete -c ${name} -f -a '(__kcri_complete)'
`;

/** Completion scripts by shell. */
export const COMPLETION_SCRIPTS = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
} as const satisfies Record<Shell, CompletionScript>;
