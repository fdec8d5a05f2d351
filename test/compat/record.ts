import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import {CASES} from './cases.js';
import {HELP, writeRecordings} from './recordings.js';
import {runCase, type Call, type Outcome} from './run-case.js';

/**
 * Runs the command lines of all files, or of those named, with the crictl at `crictl`, and writes what it says to
 * test/compat/recordings. The program behind scripts/record-crictl.mjs.
 */
export async function record(crictl: string, only: readonly string[]): Promise<void> {
  const call = async (made: Call): Promise<Outcome> => await run(crictl, made);
  const version = (await run(crictl, {words: ['--version'], env: {}})).stdout.trim();
  for (const [command, cases] of Object.entries(CASES)) {
    if (only.length > 0 && !only.includes(command)) continue;
    const recordedAtMs = Date.now();
    const outcomes: Record<string, Outcome> = {};
    for (const each of cases) {
      const {stdout, ...rest} = await runCase(each, {path: crictl, call});
      outcomes[each.title] = {stdout: withoutHelp(stdout), ...rest};
    }
    await writeRecordings(command, {crictl: version, recordedAtMs, outcomes});
    process.stdout.write(`${command}: ${cases.length} command lines\n`);
  }
}

async function run(program: string, {words, env, interrupted}: Call): Promise<Outcome> {
  const child = spawn(program, words, {env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000});
  void interrupted?.then(() => child.kill('SIGINT'));
  const ended = once(child, 'close') as Promise<[number | null, string | null]>;
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ]);
  if (exitCode === null) throw new Error(`${words.join(' ')} was ended by ${signal ?? ''}: ${stderr}`);
  return {stdout, stderr, exitCode};
}

function withoutHelp(stdout: string): string {
  return stdout.replace(/(^|\n)NAME:\n {3}crictl[^]*$/, `$1${HELP}`);
}
