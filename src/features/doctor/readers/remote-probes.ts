import {get as getHttp} from 'node:http';
import {get as getHttps} from 'node:https';
import {connect} from 'node:net';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import {SystemError} from '../../../base/errors.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import type {ListeningSocket} from '../../../base/host/find-port-owner.js';
import type {RemoteNode} from '../../../remote/remote-node.js';
import type {Fact} from '../fact.js';
import type {HttpAnswer, PortListener} from '../node-snapshot.js';

/** Node that is reached through ssh, and the signal that ends what is asked of it. */
export interface RemoteProbe {
  readonly node: RemoteNode;
  readonly signal: AbortSignal;
}

/** Maximum size of the kernel's log, and of its configuration, in bytes. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
const MAX_CONFIG_BYTES = 2 * 1024 * 1024;
const MAX_OWNERS_BYTES = 64 * 1024;

/** Reads the records of the kernel's log as /dev/kmsg has them, one read each, without waiting for more. */
export async function remoteKernelLog({node, signal}: RemoteProbe): Promise<string> {
  // dd ends with an error when there are no more records.
  const script =
    'if [ -r /dev/kmsg ]; then dd if=/dev/kmsg iflag=nonblock bs=8192 2>/dev/null; true; else exit 13; fi\n';
  return await withReason('/dev/kmsg', node.run(script, {signal, maxBytes: MAX_LOG_BYTES}));
}

/** Reads the configuration that the kernel has of itself. */
export async function remoteKernelConfig({node, signal}: RemoteProbe): Promise<string> {
  const script = 'gzip -dc < /proc/config.gz\n';
  return await withReason('/proc/config.gz', node.run(script, {signal, maxBytes: MAX_CONFIG_BYTES}));
}

async function withReason(what: string, run: Promise<{output: string; exitCode: number}>): Promise<string> {
  const {output, exitCode} = await run;
  if (exitCode !== 0 || output === '')
    throw new SystemError(`${what} cannot be read by this user of the node, or not with its programs`);
  return output;
}

/**
 * Returns the processes that listen on the sockets, by the descriptors of all processes that the user of the node may read. The
 * names are those that the programs have given themselves.
 */
export async function remotePortOwners(
  sockets: readonly ListeningSocket[],
  {node, signal}: RemoteProbe,
): Promise<readonly PortListener[]> {
  const inodes = sockets.map(({inode}) => inode).filter((inode) => /^\d+$/.test(inode));
  const links = `socket:\\[(${inodes.join('|')})\\]$`;
  const script = [
    "ls -l /proc/[0-9]*/fd 2>/dev/null | awk -v links='" + links.replaceAll('\\', '\\\\') + "'",
    `'/^\\/proc\\// {split($0, part, "/")} $0 ~ links {print part[3], $NF}' |`,
    'while read -r pid link; do echo "$pid $link $(cat /proc/$pid/comm 2>/dev/null)"; done\n',
  ].join(' ');
  const {output} = await node.run(script, {signal, maxBytes: MAX_OWNERS_BYTES});
  return parsePortOwners(sockets, output);
}

/** Returns the first process for each socket in lines of a PID, a link and a name. Pure. */
export function parsePortOwners(
  sockets: readonly ListeningSocket[],
  output: string,
): readonly PortListener[] {
  const lines = [...output.matchAll(/^(\d+) socket:\[(\d+)\] (.*)$/gm)];
  const owners = sockets.map(({port, inode}): PortListener => {
    const [, pid, , name = ''] = lines.find(([, , each]) => each === inode) ?? [];
    return {port, ...(pid !== undefined && {process: {pid: Number(pid), name}})};
  });
  // A port may have a socket of each address family.
  return owners.filter(({port}, index) => index === owners.findIndex((owner) => owner.port === port));
}

/**
 * Returns the answer of a port on the node's loopback; 0 if none of the sockets listens on it: ssh does not say which of its
 * requests was refused. Rejects with the error of the connection.
 */
export async function remoteHttpAnswer(
  url: string,
  sockets: Fact<readonly ListeningSocket[]>,
  {node, signal}: RemoteProbe,
): Promise<HttpAnswer> {
  const {hostname, port, protocol} = new URL(url);
  if ('value' in sockets && !sockets.value.some((socket) => socket.port === Number(port)))
    return {url, status: 0};
  const socketPath = await node.socketToAddress(hostname, Number(port));
  const options = {agent: false, signal, socketPath, rejectUnauthorized: false} as const;
  try {
    return await new Promise((resolve, reject) => {
      (protocol === 'https:' ? getHttps : getHttp)(url, options, (response) => {
        resolve({url, status: response.statusCode ?? 0});
        response.destroy();
      }).once('error', reject);
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new SystemError(systemErrorMessage(error), {cause: error});
  }
}

/** A question for the name servers of the root, as DNS over TCP has it: length, header, name, type NS, class IN. */
const QUESTION = Buffer.from('00116b63010000010000000000000000020001', 'hex');

const DNS_PORT = 53;
/** Time for an answer, in ms. */
const DNS_MS = 2000;

/** Asks a name server over TCP, which ssh can forward. Rejects with SystemError if it does not answer. */
export async function askNameServerOverTcp(
  server: string,
  {node, signal}: RemoteProbe,
  port = DNS_PORT,
): Promise<void> {
  const socket = connect(await node.socketToAddress(server, port));
  const forget = onAbort(signal, () => void socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('data', () => {
        resolve();
      });
      const fail = (): void => {
        reject(new SystemError('no answer over TCP, which ssh needs'));
      };
      socket.once('error', fail).once('close', fail).setTimeout(DNS_MS, fail);
      socket.write(QUESTION);
    });
  } finally {
    forget();
    socket.destroy();
  }
}

/** Exit code of a shell for a program that does not exist. */
const NOT_FOUND = 127;
const MAX_STATES_BYTES = 64 * 1024;

/**
 * Asks file systems for their state, each with a stat process that is left behind if it hangs. Returns the exit codes; undefined
 * for one that has not answered within the seconds.
 */
export async function remoteStats(
  paths: readonly string[],
  seconds: number,
  {node, signal}: RemoteProbe,
): Promise<readonly (number | undefined)[]> {
  const {output, exitCode} = await node.run(statScript(paths, seconds), {signal, maxBytes: MAX_STATES_BYTES});
  if (exitCode !== 0) throw new SystemError('the node could not run the script that asks file systems');
  const codes = new Map(
    [...output.matchAll(/^(\d+) (\d+)$/gm)].map(([, index, code]) => [Number(index), Number(code)]),
  );
  if ([...codes.values()].includes(NOT_FOUND)) throw new SystemError('the node has no program stat');
  return paths.map((_, index) => codes.get(index));
}

/**
 * Returns a script that ends when all processes have, or after the seconds. A shell that waits for a hung process ends by the
 * signal; the process itself cannot be ended.
 */
function statScript(paths: readonly string[], seconds: number): string {
  const asks = paths.map(
    (path, index) =>
      `(stat -f -- ${shellQuote(path)} </dev/null >/dev/null 2>&1; echo "${index} $?") & pids="$pids $!"`,
  );
  const limit = `(trap 'kill $timer; exit' TERM; sleep ${seconds} & timer=$!; wait $timer; kill $pids) >/dev/null 2>&1 &`;
  return [...asks, limit, 'limit=$!', 'wait $pids', 'kill $limit 2>/dev/null', 'true', ''].join('\n');
}
