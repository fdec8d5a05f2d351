import {execFileSync, spawn} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {chmod, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {connect, createServer, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {CACHE} from '../../../scripts/test-runtimes/second-containerd.mjs';
import {ensureSshServer} from '../../../scripts/test-runtimes/ssh-server.mjs';
import {until} from '../../base/until.js';

/**
 * An sshd on loopback, in its own mount namespace: the machine's /etc/passwd and /run stay as they are. `ssh` knows it
 * as the hosts `node-a` and `node-b`; as `node-new` its key is unknown, and as `node-strict` it forwards no sockets.
 * `node-down` is a host without sshd.
 */
export interface SshServer extends AsyncDisposable {
  /** Variables with which kcri uses a `ssh` configured for this server, and keeps its sockets in a directory of the test. */
  readonly env: Readonly<Record<string, string>>;
  /** Kills all connections. */
  killConnections(): void;
  /** Returns the ssh processes and directories of kcri that exist. */
  leftovers(): readonly string[];
}

/** Starts an sshd whose well-known socket of containerd leads to `socketPath`. */
export async function startSshServer(socketPath: string): Promise<SshServer> {
  const unpacked = await ensureSshServer(CACHE);
  const directory = await mkdtemp(join(tmpdir(), 'kcri-sshd-'));
  const [port, strictPort] = [await freePort(), await freePort()];
  await writeServerFiles(directory, {unpacked, port, strictPort, socketPath});
  await writeClientFiles(directory, {port, strictPort});
  const sockets = join(directory, 'sockets');
  await mkdir(sockets);
  const child = spawn('unshare', ['-m', 'sh', join(directory, 'run.sh')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const exited = new Promise((resolve) => child.once('close', resolve));
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`sshd has ended: ${log}`);
      return accepts(port);
    },
    () => `sshd: ${log}`,
  );
  const connections = (): readonly number[] => childrenOf(child.pid ?? 0);
  return {
    env: {PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`, TMPDIR: sockets},
    killConnections: () => {
      for (const pid of connections()) process.kill(pid, 'SIGKILL');
    },
    leftovers: () => [...readdirSync(sockets), ...commandLinesBelow(sockets)],
    [Symbol.asyncDispose]: async () => {
      for (const pid of connections()) process.kill(pid, 'SIGKILL');
      child.kill();
      await exited;
      await rm(directory, {recursive: true});
    },
  };
}

interface ServerFiles {
  readonly unpacked: string;
  readonly port: number;
  readonly strictPort: number;
  readonly socketPath: string;
}

async function writeServerFiles(
  directory: string,
  {unpacked, port, strictPort, socketPath}: ServerFiles,
): Promise<void> {
  for (const key of ['host', 'user'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(directory, key)]);
  const config = [
    `Port ${port}`,
    `Port ${strictPort}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${directory}/host`,
    `AuthorizedKeysFile ${directory}/user.pub`,
    'PidFile none',
    'UsePAM no',
    'StrictModes no',
    'PermitRootLogin prohibit-password',
    `Subsystem sftp ${unpacked}/usr/lib/openssh/sftp-server`,
    `Match LocalPort ${strictPort}`,
    '  AllowStreamLocalForwarding no',
  ];
  await writeFile(join(directory, 'sshd_config'), `${config.join('\n')}\n`);
  const users = await readFile('/etc/passwd', 'utf8');
  const sshd = /^sshd:/m.test(users) ? '' : 'sshd:x:64999:65534::/run/sshd:/usr/sbin/nologin\n';
  await writeFile(join(directory, 'passwd'), users + sshd);
  const libraries = join(unpacked, 'usr/lib');
  const script = [
    'set -e',
    'mount --make-rprivate /',
    `mount --bind ${directory}/passwd /etc/passwd`,
    'mount -t tmpfs tmpfs /run',
    'mkdir /run/sshd /run/containerd',
    `ln -s ${socketPath} /run/containerd/containerd.sock`,
    `LD_LIBRARY_PATH=$(echo ${libraries}/*-linux-gnu) exec ${unpacked}/usr/sbin/sshd -D -e -f ${directory}/sshd_config`,
  ];
  await writeFile(join(directory, 'run.sh'), `${script.join('\n')}\n`);
}

async function writeClientFiles(
  directory: string,
  {port, strictPort}: {readonly port: number; readonly strictPort: number},
): Promise<void> {
  const key = (await readFile(join(directory, 'host.pub'), 'utf8')).trim();
  const known = [port, strictPort].map((each) => `[127.0.0.1]:${each} ${key}\n`).join('');
  await writeFile(join(directory, 'known_hosts'), known);
  const config = [
    'Host node-down',
    '  Port 1',
    'Host node-strict',
    `  Port ${strictPort}`,
    'Host node-new',
    `  UserKnownHostsFile ${directory}/no_known_hosts`,
    'Host *',
    '  HostName 127.0.0.1',
    `  Port ${port}`,
    '  User root',
    `  IdentityFile ${directory}/user`,
    '  IdentitiesOnly yes',
    `  UserKnownHostsFile ${directory}/known_hosts`,
    '  GlobalKnownHostsFile /dev/null',
  ];
  await writeFile(join(directory, 'ssh_config'), `${config.join('\n')}\n`);
  const program = join(directory, 'bin/ssh');
  await mkdir(join(directory, 'bin'));
  await writeFile(
    program,
    `#!/bin/sh\ncase " $* " in *" -F none "*) exec /usr/bin/ssh "$@";; esac\nexec /usr/bin/ssh -F ${directory}/ssh_config "$@"\n`,
  );
  await chmod(program, 0o755);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function accepts(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Returns the command lines of running programs that name a path below the directory. */
export function commandLinesBelow(directory: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(`${directory}/`) ? [line] : [];
      } catch {
        return []; // it has ended
      }
    });
}
