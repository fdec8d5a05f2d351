import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import type {Call, Outcome} from './run-case.js';

/** Calls a program in a separate process. */
export async function runProgram(program: string, {words, env, interrupted}: Call): Promise<Outcome> {
  const child = spawn(program, words, {env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000});
  void interrupted?.then(() => child.kill('SIGINT'));
  const exited = once(child, 'close') as Promise<[number | null, string | null]>;
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    exited,
  ]);
  if (exitCode === null) throw new Error(`${words.join(' ')} was terminated by ${signal ?? ''}: ${stderr}`);
  return {stdout, stderr, exitCode};
}
