import {spawn, type ChildProcessWithoutNullStreams} from 'node:child_process';
import {onTestFinished} from 'vitest';
import {until} from '../../base/until.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

/** `kcri ui` in a process of its own. */
export interface UiProgram {
  readonly kcri: ChildProcessWithoutNullStreams;
  /** Output so far. */
  readonly output: {stdout: string; stderr: string};
  readonly link: string;
}

/** Starts `kcri ui` of the built program, which ends with the test, and waits for its link. */
export async function startUiProgram(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<UiProgram> {
  const [program, ...before] = KCRI_COMMAND;
  const kcri = spawn(program, [...before, 'ui', ...args], {cwd: '/', env: {...process.env, ...env}});
  onTestFinished(() => {
    kcri.kill('SIGKILL');
  });
  const output = {stdout: '', stderr: ''};
  kcri.stdout.on('data', (data: Buffer) => (output.stdout += data.toString()));
  kcri.stderr.on('data', (data: Buffer) => (output.stderr += data.toString()));
  await until(
    () => output.stdout.includes('\n'),
    () => output.stderr,
  );
  return {kcri, output, link: output.stdout.trim()};
}
