/** What a manual page shows of a command, as oclif has it. */
export interface ManualCommand {
  readonly summary?: string;
  readonly description?: string;
  readonly usage?: string;
  readonly aliases?: readonly string[];
  readonly examples?: readonly string[];
  readonly args?: Readonly<Record<string, {readonly description?: string}>>;
  readonly flags?: ManualFlags;
}

export type ManualFlags = Readonly<
  Record<
    string,
    {
      readonly type: 'boolean' | 'option';
      readonly char?: string;
      readonly helpValue?: string;
      readonly description?: string;
      readonly hidden?: boolean;
    }
  >
>;

export function mainPage(
  template: string,
  commands: readonly (readonly [words: readonly string[], command: ManualCommand])[],
  version: string,
): string;
export function commandPage(
  words: readonly string[],
  command: ManualCommand,
  options: {readonly version: string; readonly globalFlags: ManualFlags},
): string;
