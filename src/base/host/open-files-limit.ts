import {readFile} from 'node:fs/promises';
import {messageOf, SystemError} from '../errors.js';
import {withFileErrors} from '../fs/files.js';
import {runProgram} from './run-program.js';

const TIMEOUT_MS = 5000;

/**
 * Sets how many files a process can have open, with prlimit(1) of util-linux: Node.js cannot do it. Nothing is run if the limit is
 * right. Rejects with SystemError, or with the signal's reason.
 */
export async function setOpenFilesLimit(pid: number, limit: number, signal: AbortSignal): Promise<void> {
  const path = `/proc/${pid}/limits`;
  const limits = await withFileErrors('reading', path, () => readFile(path, 'utf8'));
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits) ?? [];
  if (soft === String(limit) && hard === String(limit)) return;
  const args = ['--pid', String(pid), `--nofile=${limit}:${limit}`];
  const hint = 'install util-linux, or set LimitNOFILE= in the systemd unit';
  try {
    const {exitCode, errorOutput} = await runProgram('prlimit', {
      ...{args, env: process.env, input: '', timeoutMs: TIMEOUT_MS, signal},
    });
    if (exitCode === 0) return;
    throw new SystemError(errorOutput.trim() || `prlimit exited with code ${exitCode ?? 'unknown'}`, {hint});
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof SystemError) throw cause;
    throw new SystemError(`running prlimit: ${messageOf(cause)}`, {cause, hint});
  }
}
