import {once} from 'node:events';
import {chmod, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer as createHttpServer} from 'node:http';
import {createServer, type Server, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Server as GrpcServer, ServerCredentials} from '@grpc/grpc-js';
import {afterAll, beforeAll, describe, test} from 'vitest';
import {connect, CriError} from '../../src/cri/index.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';

/** Returns the error of the first call at an endpoint without a CRI runtime. */
async function failureAt(path: string, timeoutMs = 20_000): Promise<CriError> {
  using cri = connect(`unix://${path}`);
  const error: unknown = await cri.runtime.version({}, {timeoutMs}).catch((caught: unknown) => caught);
  if (error instanceof CriError) return error;
  throw new Error(`not a CriError: ${String(error)}`);
}

/** Runs `act` while `server` listens at `path`, then closes the remaining connections. */
async function whileListening<T>(server: Server, path: string, act: () => Promise<T>): Promise<T> {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(path);
  await once(server, 'listening');
  try {
    return await act();
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

describe('a call fails with a hint at', () => {
  let directory = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kcri-endpoint-'));
  });

  afterAll(async () => {
    await rm(directory, {recursive: true});
  });

  test('a path without a socket', async ({expect}) => {
    const path = join(directory, 'none.sock');
    const error = await failureAt(path);
    expect(error.message).toBe(
      `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix ${path}: connect: no such file or directory"`,
    );
    expect(error.hint).toContain(`there is no socket at unix://${path}`);
  });

  test('a socket without a listener', async ({expect}) => {
    await using fake = await FakeRuntime.start();
    await fake.crash();
    const error = await failureAt(fake.socketPath);
    expect(error.message).toContain('connect: connection refused');
    expect(error.hint).toContain('nothing listens on');
  });

  test('a plain file', async ({expect}) => {
    const path = join(directory, 'file');
    await writeFile(path, '');
    expect(await failureAt(path)).toMatchObject({grpcCode: 'UNAVAILABLE'});
  });

  test('a path through a file', async ({expect}) => {
    const path = join(directory, 'not-a-directory');
    await writeFile(path, '');
    expect((await failureAt(join(path, 'cri.sock'))).hint).toContain('there is no socket at');
  });

  test('a socket without permission for this user', async ({expect}) => {
    const closed = await mkdtemp(join(directory, 'closed-'));
    await using fake = await FakeRuntime.start({socketPath: join(closed, 'cri.sock')});
    await chmod(closed, 0);
    const error = await asNobody(() => failureAt(fake.socketPath));
    await chmod(closed, 0o700);
    expect(error.message).toContain('connect: permission denied');
    expect(error.hint).toContain('run kcri as root');
  });

  test('a silent server', async ({expect}) => {
    const path = join(directory, 'silent.sock');
    const error = await whileListening(createServer(), path, () => failureAt(path));
    expect(error).toMatchObject({grpcCode: 'UNAVAILABLE', details: 'no gRPC server answered within 5s'});
    expect(error.hint).toContain('is not a CRI runtime');
  });

  test('a server that speaks HTTP/1', async ({expect}) => {
    const path = join(directory, 'http1.sock');
    const server = createHttpServer((_request, response) => response.end('hello'));
    const error = await whileListening(server, path, () => failureAt(path));
    expect(error.grpcCode).toBe('UNAVAILABLE');
    expect(error.hint).toContain('is not a CRI runtime');
  });

  test('a server that closes the connection immediately', async ({expect}) => {
    const path = join(directory, 'rude.sock');
    const server = createServer((socket) => socket.destroy());
    const error = await whileListening(server, path, () => failureAt(path));
    expect(error.message).toBe(
      'rpc error: code = Unavailable desc = connection error: desc = "error reading server preface: EOF"',
    );
    expect(error.hint).toContain('is not a CRI runtime');
  });

  test('a gRPC server without the CRI services', async ({expect}) => {
    const path = join(directory, 'grpc.sock');
    const server = new GrpcServer();
    await new Promise((resolve) => {
      server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), resolve);
    });
    const error = await failureAt(path);
    server.forceShutdown();
    expect(error.grpcCode).toBe('UNIMPLEMENTED');
    expect(error.hint).toBeDefined();
  });
});

/** Runs `act` as an unprivileged user if this is root, who lacks no permission. */
async function asNobody<T>(act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return await act();
  process.seteuid?.(65_534);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}
