// Programs between a client and a runtime that benchmarks measure, and the processor time of processes.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

/** The program under test. */
export const KCRI = fileURLToPath(new URL('../../../bin/kcri.js', import.meta.url));
const BARE_RELAY = fileURLToPath(new URL('bare-relay.mjs', import.meta.url));

/** Starts a program, and resolves when its output or errors contain a text. Rejects if it exits before. */
export async function startProgram([file, ...args], ready) {
  const child = spawn(file, args, {stdio: ['pipe', 'pipe', 'pipe']});
  let text = '';
  let isReady = false;
  await new Promise((resolve, reject) => {
    const read = (data) => {
      if (isReady) return;
      text += data;
      isReady = text.includes(ready);
      if (isReady) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => {
      reject(new Error(`${file} ${args.join(' ')} exited with ${code}: ${text}`));
    });
  });
  return child;
}

/** Starts `kcri record` on a socket. A program that is a script runs with this Node.js. */
export async function startRecorder({program = KCRI, target, listen, flags}) {
  const command = /\.[cm]?js$/.test(program) ? [process.execPath, program] : [program];
  const args = ['-r', `unix://${target}`, 'record', `--listen=${listen}`, ...flags];
  return await startProgram([...command, ...args], 'recording');
}

/** Starts a relay on a socket that reads nothing. */
export async function startBareRelay({target, listen}) {
  return await startProgram([process.execPath, BARE_RELAY, target, listen], 'recording');
}

/** Interrupts a program and waits for its end. */
export async function stopProgram(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGINT');
  await once(child, 'exit');
}

/** Returns the processor time that the threads of a process have used, in ms. */
export function cpuMs({pid}) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadCpuMs(pid, thread), 0);
}

/** Returns the processor time that the first thread of a process has used, in ms. */
export function firstThreadCpuMs({pid}) {
  return threadCpuMs(pid, pid);
}

function threadCpuMs(pid, thread) {
  const nanoseconds = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0];
  return Number(nanoseconds) / 1e6;
}
