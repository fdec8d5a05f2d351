import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {runPod, type RunningPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import type {KcriResult, KcriProcess} from '../harness/kcri-process.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const WEB = 8080;
const SLOW = 9001;
const NOBODY = 9999;

/** A web server, and a server that responds to a line after a delay. */
const SERVERS = [
  `mkdir /www; echo small >/www/small; dd if=/dev/zero of=/www/big bs=1M count=64; httpd -p ${WEB} -h /www`,
  `nc -ll -p ${SLOW} -e sh -c 'read line; sleep 0.2; echo "heard $line"' </dev/null >/dev/null 2>&1 &`,
].join('\n');

/** Resolves with everything received until the other side ends, or with the code of the error. */
async function readAll(socket: Socket): Promise<string> {
  let said = '';
  return await new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
    });
    socket.once('end', () => {
      resolve(said);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message);
    });
  });
}

async function request(port: number, path: string, host = '127.0.0.1'): Promise<string> {
  const socket = connect({port, host});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n`);
  const answer = await readAll(socket);
  socket.destroy();
  return answer;
}

describe.each(newestRuntime)('port-forward: $name', (which) => {
  let runtime: TestRuntime;
  let pod: RunningPod;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    pod = await runPod(runtime.connection, {name: 'forwarded'});
    const request = {containerId: pod.containerId, cmd: ['sh', '-c', SERVERS], timeout: 20n};
    await runtime.connection.runtime.execSync(request);
  });
  afterAll(async () => {
    await runtime.stop();
  });

  /**
   * Starts kcri to forward random local ports to ports of a pod, and resolves with the local ports when all are open.
   * kcri is stopped at the end of the test.
   */
  async function forwarding(
    args: readonly string[],
    ...remotes: readonly number[]
  ): Promise<{running: KcriProcess; ports: readonly number[]}> {
    const running = runtime.start(['port-forward', ...args, ...remotes.map((remote) => `:${remote}`)]);
    onTestFinished(async () => {
      running.kill('SIGKILL');
      await running.exited;
    });
    const ports: number[] = [];
    // kcri reports each port before it opens the next one.
    for (const remote of remotes) {
      const [, port] = await running.waitForOutput(
        new RegExp(`^Forwarding from 127\\.0\\.0\\.1:(\\d+) -> ${remote}$`, 'm'),
      );
      ports.push(Number(port));
    }
    return {running, ports};
  }

  async function interrupted(running: KcriProcess): Promise<KcriResult> {
    running.kill('SIGINT');
    return await running.exited;
  }

  test('reaches the pod over IPv4 and IPv6, and exits with 0 after Ctrl-C', async () => {
    const {running, ports} = await forwarding(['forwarded'], WEB);
    const [port = 0] = ports;
    expect(await request(port, '/small')).toMatch(/200 OK[\s\S]*small\n$/);
    expect(await request(port, '/small', '::1')).toMatch(/small\n$/);
    expect(await interrupted(running)).toEqual({
      stdout:
        `Forwarding from 127.0.0.1:${port} -> ${WEB}\nForwarding from [::1]:${port} -> ${WEB}\n` +
        `Handling connection for ${port}\n`.repeat(2),
      stderr: '',
      exitCode: 0,
    });
  });

  test('transfers megabytes, and two hundred connections concurrently', async () => {
    const {ports} = await forwarding([pod.podSandboxId.slice(0, 10)], WEB);
    const [port = 0] = ports;
    const download = request(port, '/big');
    const answers = await Promise.all(Array.from({length: 200}, () => request(port, '/small')));
    expect(answers.filter((answer) => answer.endsWith('small\n'))).toHaveLength(200);
    expect((await download).length).toBeGreaterThan(64 * 1024 * 1024);
  });

  test('lets the pod respond after the local side has closed its direction', async () => {
    const {ports} = await forwarding(['forwarded'], SLOW);
    const [port = 0] = ports;
    const socket = connect({port, host: '127.0.0.1', allowHalfOpen: true});
    socket.end('this\n');
    expect(await readAll(socket)).toBe('heard this\n');
  });

  test('a refused connection is reset and does not affect the others', async () => {
    const {running, ports} = await forwarding(['forwarded'], WEB, NOBODY);
    const [open = 0, closed = 0] = ports;
    expect(await request(closed, '/')).toBe('ECONNRESET');
    await running.waitForOutput(new RegExp(`nothing listens on port ${NOBODY} of the pod`));
    expect(await request(open, '/small')).toMatch(/small\n$/);
    expect((await interrupted(running)).exitCode).toBe(0);
  });

  test('a stalled reader does not block others', async () => {
    const {ports} = await forwarding(['forwarded'], WEB);
    const [port = 0] = ports;
    const stalled = connect({port, host: '127.0.0.1'});
    stalled.write('GET /big HTTP/1.0\r\n\r\n');
    await once(stalled, 'readable');
    expect(await request(port, '/small')).toMatch(/small\n$/);
    stalled.destroy();
  });

  test('works over WebSocket', async () => {
    const {running, ports} = await forwarding(['--transport', 'websocket', 'forwarded'], WEB, NOBODY);
    const [web = 0, closed = 0] = ports;
    expect((await request(web, '/big')).length).toBeGreaterThan(64 * 1024 * 1024);
    expect(await request(closed, '/')).toBe('ECONNRESET');
    await running.waitForOutput(new RegExp(`nothing listens on port ${NOBODY} of the pod`));
  });

  test('ends with the pod and reports it', async () => {
    const {podSandboxId} = await runPod(runtime.connection, {name: 'goes'});
    const {running} = await forwarding(['goes'], WEB);
    await runtime.connection.runtime.stopPodSandbox({podSandboxId});
    expect(await running.exited).toMatchObject({
      stderr: 'kcri: lost connection to pod: "goes" was stopped\nhint: run "kcri pods" to list pods\n',
      exitCode: 1,
    });
  });
});
