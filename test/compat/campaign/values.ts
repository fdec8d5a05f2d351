/** Values of flags, arguments and files by their kind, and the lines and files that they are put into. */
export interface Values extends Readonly<
  Record<
    | 'assignments'
    | 'attaches'
    | 'auths'
    | 'booleans'
    | 'codes'
    | 'completions'
    | 'containerJson'
    | 'containerStructures'
    | 'containerYaml'
    | 'creds'
    | 'crictlTexts'
    | 'durations'
    | 'endpoints'
    | 'events'
    | 'execs'
    | 'helpCommands'
    | 'images'
    | 'integerLines'
    | 'integers'
    | 'jsonValues'
    | 'lists'
    | 'names'
    | 'outputs'
    | 'podJson'
    | 'podStructures'
    | 'podYaml'
    | 'ports'
    | 'schemas'
    | 'syntax'
    | 'templates'
    | 'times'
    | 'wrongLines'
    | 'yamlScalars',
    readonly string[]
  >
> {
  /** Flags and arguments of commands, which are combined. */
  readonly combinations: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Command lines with the RPC that fails. */
  readonly faults: readonly (readonly [line: string, rpc: string])[];
}

/** Splits a line at `|` and puts a value in place of `VALUE`. */
export function wordsWith(line: string, value: string): readonly string[] {
  return line.split('|').map((word) => word.replace('VALUE', () => value));
}
