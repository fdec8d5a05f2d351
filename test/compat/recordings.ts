import {readFile, writeFile} from 'node:fs/promises';
import type {Outcome} from './run-case.js';

/** Recorded results of crictl for the command lines of one file, by title. */
export interface Recordings {
  /** Version of crictl. */
  readonly crictl: string;
  /** Time of the recording in ms since the epoch, on which ages depend. */
  readonly recordedAtMs: number;
  readonly outcomes: Readonly<Record<string, Outcome>>;
}

/** Placeholder for crictl's help, which kcri's differs from. */
export const HELP = '{HELP}';

const path = (command: string): string => `test/compat/recordings/${command}.json`;

export async function readRecordings(command: string): Promise<Recordings> {
  const {outcomes, ...rest} = JSON.parse(await readFile(path(command), 'utf8')) as Written;
  const joined = Object.entries(outcomes).map(
    ([title, {stdout = [''], stderr = [''], exitCode, shown}]) =>
      [
        title,
        {
          stdout: stdout.join('\n'),
          stderr: stderr.join('\n'),
          exitCode,
          ...(shown === undefined ? {} : {shown: shown.join('\n')}),
        },
      ] as const,
  );
  return {...rest, outcomes: Object.fromEntries(joined)};
}

/** Writes a file with readable diffs: texts are lists of lines, and empty ones are omitted. */
export async function writeRecordings(command: string, {outcomes, ...rest}: Recordings): Promise<void> {
  const lines = (name: 'stdout' | 'stderr', text: string) => (text === '' ? {} : {[name]: text.split('\n')});
  const written = Object.entries(outcomes).map(([title, {stdout, stderr, exitCode, shown}]) => [
    title,
    {
      ...lines('stdout', stdout),
      ...lines('stderr', stderr),
      exitCode,
      ...(shown === undefined ? {} : {shown: shown.split('\n')}),
    },
  ]);
  const all: unknown = Object.fromEntries(written);
  await writeFile(path(command), `${JSON.stringify({...rest, outcomes: all}, undefined, 1)}\n`);
}

interface Written extends Omit<Recordings, 'outcomes'> {
  readonly outcomes: Readonly<
    Record<
      string,
      {
        readonly stdout?: readonly string[];
        readonly stderr?: readonly string[];
        readonly exitCode: number;
        readonly shown?: readonly string[];
      }
    >
  >;
}
