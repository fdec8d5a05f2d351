/**
 * A program that behaves like OpenSSH's client, without a network: the node is this machine. The host selects a fault:
 * `refusing`, `silent`, `unknown-key`, `no-login`, `no-forwarding` and `no-sftp`. Each call appends its arguments to $FAKE_SSH_LOG.
 */
import {spawn} from 'node:child_process';
import {appendFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {connect, createServer} from 'node:net';
import {serveSftp} from './fake-sftp-server.mjs';

const args = process.argv.slice(2);
if (process.env.FAKE_SSH_LOG !== undefined)
  appendFileSync(process.env.FAKE_SSH_LOG, `${JSON.stringify(args)}\n`);

const control = args.find((arg) => arg.startsWith('ControlPath=')).slice('ControlPath='.length);
const [host, word] = args.slice(args.indexOf('--') + 1);

if (args.includes('ControlMaster=yes')) runMaster();
else if (args.includes('-O')) requestForwards();
else runSession();

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(255);
}

function runMaster() {
  // Tests kill it.
  writeFileSync(join(dirname(control), 'pid'), String(process.pid));
  if (host === 'refusing') fail(`ssh: connect to host ${host} port 22: Connection refused`);
  if (host === 'unknown-key') fail('Host key verification failed.');
  if (host === 'no-login') {
    process.stdout.write('This account is currently\x1b[31mnot available.\n');
    process.exit(1);
  }
  const quit = () => {
    rmSync(control, {force: true});
    process.exit(255);
  };
  process.on('SIGTERM', quit);
  process.stdin.on('end', quit);
  if (host === 'silent') {
    process.stdin.resume();
    return;
  }
  const server = createServer((client) => {
    client.once('data', async (data) => {
      const requests = JSON.parse(data.toString());
      await Promise.all(requests.map(([local, target]) => listen(local, target)));
      client.end(host);
    });
  });
  server.listen(control, () => process.stdin.pipe(process.stdout));
}

function listen(local, target) {
  const [, remoteHost, port] = /^(?!\/)(?:\[?(.*?)\]?):(\d+)$/.exec(target) ?? [];
  const server = createServer((near) => {
    const far = port === undefined ? connect(target) : connect(Number(port), remoteHost);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    if (host === 'no-forwarding') end();
    near.on('error', end).on('close', end).pipe(far);
    far
      .on('error', () => {
        process.stderr.write('channel 2: open failed: connect failed: open failed\n');
        end();
      })
      .on('close', end)
      .pipe(near);
  });
  return new Promise((resolve) => server.listen(local, resolve));
}

/** Sends a request to the master and returns its answer, the host. */
function ask(requests) {
  return new Promise((resolve) => {
    const socket = connect(control).setEncoding('utf8');
    socket.on('error', () => fail('Control socket connect: No such file or directory'));
    socket.once('data', resolve);
    socket.write(JSON.stringify(requests));
  });
}

async function requestForwards() {
  const specs = args.flatMap((arg, at) => (args[at - 1] === '-L' ? [arg] : []));
  await ask(specs.map((spec) => [spec.slice(0, spec.indexOf(':')), spec.slice(spec.indexOf(':') + 1)]));
  process.exit(0);
}

async function runSession() {
  const node = await ask([]);
  if (!args.includes('-s')) {
    spawn(word, {stdio: 'inherit'}).on('exit', (code) => process.exit(code ?? 255));
    return;
  }
  if (node === 'no-sftp') fail('subsystem request failed on channel 0');
  serveSftp(process.stdin, process.stdout);
}
