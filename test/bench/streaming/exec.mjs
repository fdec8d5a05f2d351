// exec: bytes out of a container and into it.
import {spawn} from 'node:child_process';
import {stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {MIB} from './runtime.mjs';

const STDOUT_MIB = 1024;
export const STDIN_MIB = 512;

/** 1 GiB of zeros out of the container, into a pipe. */
export async function execStdout(tool, runtime) {
  const command = tool.execOut('dd', 'if=/dev/zero', 'bs=1M', `count=${STDOUT_MIB}`);
  const {seconds, cpuSeconds, stdout} = await timed(`| wc -c`, command, runtime);
  if (Number(stdout) < STDOUT_MIB * MIB) throw new Error(`${tool.name} gave ${stdout.trim()} bytes`);
  return {rate: STDOUT_MIB / seconds, cpuSeconds};
}

/** 512 MiB from a file into the container. */
export async function execStdin(tool, runtime) {
  const path = await input(runtime);
  // With its output gone the process would lose its input: the shell has to stay.
  const command = tool.execIn('sh', '-c', 'wc -c; true');
  const {seconds, cpuSeconds, stdout} = await timed(`<"${path}"`, command, runtime);
  if (tool.name !== 'floor' && Number(stdout) !== STDIN_MIB * MIB)
    throw new Error(`${tool.name} sent ${stdout.trim()} bytes`);
  return {rate: STDIN_MIB / seconds, cpuSeconds};
}

/** The file, made once: else who comes first pays for bringing it into the page cache. */
async function input({dir}) {
  const path = join(dir, 'input');
  const isThere = await stat(path).catch(() => undefined);
  if (isThere === undefined) await writeFile(path, Buffer.alloc(STDIN_MIB * MIB, 'kcri\n'));
  return path;
}

/** A command's time, and the processor time of it alone, as the shell says; `redirection` is where it is connected to. */
async function timed(redirection, command, {env}) {
  const start = performance.now();
  const script = `{ "$@"; times >&3; } ${redirection}`;
  const child = spawn('bash', ['-c', script, 'bash', ...command], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [stdout, stderr, times] = await Promise.all([1, 2, 3].map((fd) => text(child.stdio[fd])));
  const seconds = (performance.now() - start) / 1000;
  // The second line is of the children: user and system time.
  const spent = times.trim().split('\n').at(-1) ?? '';
  const cpuSeconds = [...spent.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest),
    0,
  );
  if (cpuSeconds === 0) throw new Error(`${command.join(' ')}: ${stderr}`);
  return {seconds, cpuSeconds, stdout};
}
