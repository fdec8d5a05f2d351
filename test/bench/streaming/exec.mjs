// exec: bytes from a container and to it.
import {spawn} from 'node:child_process';
import {stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {MIB} from './runtime.mjs';

const STDOUT_MIB = 1024;
export const STDIN_MIB = 512;

/** Measures 1 GiB of zeros from the container to a pipe. */
export async function execStdout(tool, runtime) {
  const command = tool.execOut('dd', 'if=/dev/zero', 'bs=1M', `count=${STDOUT_MIB}`);
  const {seconds, cpuSeconds, stdout} = await timed(`| wc -c`, command, runtime);
  if (Number(stdout) < STDOUT_MIB * MIB) throw new Error(`${tool.name} received ${stdout.trim()} bytes`);
  return {rate: STDOUT_MIB / seconds, cpuSeconds};
}

/** Measures 512 MiB from a file to the container. */
export async function execStdin(tool, runtime) {
  const path = await input(runtime);
  // The shell must stay, since the process would lose its input after its output is closed.
  const command = tool.execIn('sh', '-c', 'wc -c; true');
  const {seconds, cpuSeconds, stdout} = await timed(`<"${path}"`, command, runtime);
  if (tool.name !== 'floor' && Number(stdout) !== STDIN_MIB * MIB)
    throw new Error(`${tool.name} sent ${stdout.trim()} bytes`);
  return {rate: STDIN_MIB / seconds, cpuSeconds};
}

/** Measures 512 MiB from a file to the container and back to a pipe. */
export async function execBoth(tool, runtime) {
  const path = await input(runtime);
  const {seconds, cpuSeconds, stdout} = await timed(`<"${path}" | wc -c`, tool.execIn('cat'), runtime);
  if (tool.name !== 'floor' && Number(stdout) !== STDIN_MIB * MIB)
    throw new Error(`${tool.name} received ${stdout.trim()} bytes`);
  return {rate: STDIN_MIB / seconds, cpuSeconds};
}

/** Creates the file once, so that it is in the page cache for all tools. */
async function input({dir}) {
  const path = join(dir, 'input');
  const existing = await stat(path).catch(() => undefined);
  if (existing === undefined) await writeFile(path, Buffer.alloc(STDIN_MIB * MIB, 'kcri\n'));
  return path;
}

/** Returns the time of a command, and its own CPU time according to the shell. `redirection` connects it. */
async function timed(redirection, command, {env}) {
  const start = performance.now();
  const script = `{ "$@"; times >&3; } ${redirection}`;
  const child = spawn('bash', ['-c', script, 'bash', ...command], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [stdout, stderr, times] = await Promise.all([1, 2, 3].map((fd) => text(child.stdio[fd])));
  const seconds = (performance.now() - start) / 1000;
  // The second line has the user and system times of the children.
  const childTimes = times.trim().split('\n').at(-1) ?? '';
  const cpuSeconds = [...childTimes.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest),
    0,
  );
  if (cpuSeconds === 0) throw new Error(`${command.join(' ')}: ${stderr}`);
  return {seconds, cpuSeconds, stdout};
}
